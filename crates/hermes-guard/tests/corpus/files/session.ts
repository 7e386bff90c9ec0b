import { createHash, randomBytes } from "node:crypto";
import type { AccessToken, TokenPayload } from "./types";

export interface SessionOptions {
  apiKey: string;
  accessToken?: string;
  refreshToken: string | null;
  passwordResetUrl: string;
  csrfTokenName: string;
}

const STORAGE_KEY = "app.session.v2";
const TOKEN_HEADER = "X-CSRF-Token";
const queryKey = ["users", "list", { page: 1 }];
const skeleton = { className: "sk-chase-dot sk-cube-grid", id: "sk-1" };

export async function login(username: string, password: string): Promise<AccessToken> {
  const response = await fetch(`${base}/login?next=${encodeURIComponent(next)}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "x-api-key": options.apiKey },
    body: JSON.stringify({ username, password }),
  });
  const { access_token: accessToken, token_type: tokenType } = await response.json();
  if (!accessToken) throw new Error("login: token missing");
  return { accessToken, tokenType, secret: randomBytes(32).toString("hex") };
}

export const keyOf = (payload: TokenPayload) => createHash("sha256").update(payload.key).digest("hex");
const colors = { primaryKey: "#0a1b2c", keyframes: "fade-in-2", passwordField: "input-password" };
const messages = { "auth.password.label": "Password", "auth.token.expired": "Your token has expired" };
<Input type="password" name="password" autoComplete="current-password" key={item.id} token={token} />;
const url = new URL("https://example.com/oauth/authorize?client_id=web&response_type=token&state=a1b2c3d4e5");
