package login

import (
	"crypto/sha256"
	"os"
)

const tokenBytes = 32

type Config struct {
	Password    string `json:"password" yaml:"password"`
	SecretName  string `json:"secretName,omitempty"`
	AccessToken string `env:"ACCESS_TOKEN,required"`
	KeyFile     string `flag:"key-file" default:"/etc/app/tls.key"`
}

func (c *Config) Token(key string) (token string, err error) {
	token = os.Getenv("APP_TOKEN")
	if token == "" {
		return "", fmt.Errorf("token: %w", ErrMissing)
	}
	c.Password = strings.TrimSpace(passwordFrom(key))
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("X-Api-Key", c.apiKey())
	secret := sha256.Sum256([]byte(token))
	for key, value := range c.pairs { fmt.Println(key, value) }
	tok := lexer.Token{Kind: token.IDENT, Key: key}
	return hex.EncodeToString(secret[:]), nil
}
