//! The registry: every provider that is reached with a key.
//!
//! Providers that are reached with somebody's login are left out on purpose: logins of other programs are not ours to use.

use crate::wire::Wire;

/// A provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderSpec {
    /// Its name in settings.
    pub id: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// Its address; empty when every user has his own.
    pub base_url: &'static str,
    /// The variable that overrides the address.
    pub base_url_env: &'static str,
    /// The variables that may hold its key, in order.
    pub key_env: &'static [&'static str],
    /// The domains its keys may be sent to.
    pub domains: &'static [&'static str],
    /// What it speaks.
    pub wire: Wire,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// Whether it wants a key.
    pub key: KeyNeed,
}

/// Whether a provider wants a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyNeed {
    /// Always.
    Required,
    /// Only if its owner set one.
    Optional,
}

const fn chat(id: &'static str, name: &'static str, base_url: &'static str) -> ProviderSpec {
    ProviderSpec {
        id,
        name,
        base_url,
        base_url_env: "",
        key_env: &[],
        domains: &[],
        wire: Wire::Chat,
        aliases: &[],
        key: KeyNeed::Required,
    }
}

impl ProviderSpec {
    const fn keys(mut self, variables: &'static [&'static str]) -> Self {
        self.key_env = variables;
        self
    }

    const fn url_env(mut self, variable: &'static str) -> Self {
        self.base_url_env = variable;
        self
    }

    const fn of(mut self, domains: &'static [&'static str]) -> Self {
        self.domains = domains;
        self
    }

    const fn also(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    const fn speaks(mut self, wire: Wire) -> Self {
        self.wire = wire;
        self
    }

    const fn key_optional(mut self) -> Self {
        self.key = KeyNeed::Optional;
        self
    }
}

/// All providers, in the order in which a key decides when nobody chose.
pub static TABLE: &[ProviderSpec] = &[
    chat("openrouter", "OpenRouter", "https://openrouter.ai/api/v1")
        .keys(&["OPENROUTER_API_KEY", "OPENAI_API_KEY"])
        .url_env("OPENROUTER_BASE_URL")
        .of(&["openrouter.ai"])
        .also(&["or"]),
    chat("openai-api", "OpenAI", "https://api.openai.com/v1")
        .keys(&["OPENAI_API_KEY"])
        .url_env("OPENAI_BASE_URL")
        .of(&["openai.com"])
        .speaks(Wire::Responses)
        .also(&["openai"]),
    chat("anthropic", "Anthropic", "https://api.anthropic.com")
        .keys(&["ANTHROPIC_API_KEY", "ANTHROPIC_TOKEN"])
        .url_env("ANTHROPIC_BASE_URL")
        .of(&["anthropic.com"])
        .speaks(Wire::Messages)
        .also(&["claude"]),
    chat("gemini", "Google Gemini", "https://generativelanguage.googleapis.com/v1beta/openai")
        .keys(&["GOOGLE_API_KEY", "GEMINI_API_KEY"])
        .url_env("GEMINI_BASE_URL")
        .of(&["googleapis.com"])
        .also(&["google", "google-gemini", "google-ai-studio"]),
    chat("xai", "xAI", "https://api.x.ai/v1")
        .keys(&["XAI_API_KEY"])
        .url_env("XAI_BASE_URL")
        .of(&["x.ai"])
        .speaks(Wire::Responses)
        .also(&["grok", "x-ai"]),
    chat("deepseek", "DeepSeek", "https://api.deepseek.com/v1")
        .keys(&["DEEPSEEK_API_KEY"])
        .url_env("DEEPSEEK_BASE_URL")
        .of(&["deepseek.com"]),
    chat("zai", "Z.AI", "https://api.z.ai/api/paas/v4")
        .keys(&["GLM_API_KEY", "ZAI_API_KEY", "Z_AI_API_KEY"])
        .url_env("GLM_BASE_URL")
        .of(&["z.ai", "bigmodel.cn"])
        .also(&["glm", "zhipu", "z-ai", "z.ai"]),
    chat("kimi-coding", "Kimi", "https://api.moonshot.ai/v1")
        .keys(&["KIMI_API_KEY", "KIMI_CODING_API_KEY"])
        .url_env("KIMI_BASE_URL")
        .of(&["moonshot.ai", "kimi.com"])
        .also(&["kimi", "moonshot", "kimi-for-coding"]),
    chat("kimi-coding-cn", "Kimi (China)", "https://api.moonshot.cn/v1")
        .keys(&["KIMI_CN_API_KEY"])
        .of(&["moonshot.cn"])
        .also(&["kimi-cn", "moonshot-cn"]),
    chat("minimax", "MiniMax", "https://api.minimax.io/anthropic")
        .keys(&["MINIMAX_API_KEY"])
        .url_env("MINIMAX_BASE_URL")
        .of(&["minimax.io"])
        .speaks(Wire::Messages),
    chat("minimax-cn", "MiniMax (China)", "https://api.minimaxi.com/anthropic")
        .keys(&["MINIMAX_CN_API_KEY"])
        .url_env("MINIMAX_CN_BASE_URL")
        .of(&["minimaxi.com"])
        .speaks(Wire::Messages),
    chat("alibaba", "Alibaba DashScope", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1")
        .keys(&["DASHSCOPE_API_KEY"])
        .url_env("DASHSCOPE_BASE_URL")
        .of(&["aliyuncs.com"])
        .also(&["qwen", "dashscope", "alibaba-cloud", "qwen-dashscope"]),
    chat("alibaba-coding-plan", "Alibaba coding plan", "https://coding-intl.dashscope.aliyuncs.com/v1")
        .keys(&["ALIBABA_CODING_PLAN_API_KEY", "DASHSCOPE_API_KEY"])
        .url_env("ALIBABA_CODING_PLAN_BASE_URL")
        .of(&["aliyuncs.com"]),
    chat("stepfun", "StepFun", "https://api.stepfun.ai/step_plan/v1")
        .keys(&["STEPFUN_API_KEY"])
        .url_env("STEPFUN_BASE_URL")
        .of(&["stepfun.ai", "stepfun.com"])
        .also(&["step", "stepfun-coding-plan"]),
    chat("arcee", "Arcee", "https://api.arcee.ai/api/v1")
        .keys(&["ARCEEAI_API_KEY"])
        .url_env("ARCEE_BASE_URL")
        .of(&["arcee.ai"]),
    chat("gmi", "GMI Cloud", "https://api.gmi-serving.com/v1")
        .keys(&["GMI_API_KEY"])
        .url_env("GMI_BASE_URL")
        .of(&["gmi-serving.com"]),
    chat("nvidia", "NVIDIA", "https://integrate.api.nvidia.com/v1")
        .keys(&["NVIDIA_API_KEY"])
        .url_env("NVIDIA_BASE_URL")
        .of(&["nvidia.com"])
        .also(&["nvidia-nim"]),
    chat("opencode-zen", "OpenCode Zen", "https://opencode.ai/zen/v1")
        .keys(&["OPENCODE_ZEN_API_KEY"])
        .url_env("OPENCODE_ZEN_BASE_URL")
        .of(&["opencode.ai"])
        .also(&["opencode", "opencode_zen", "zen"]),
    chat("opencode-go", "OpenCode Go", "https://opencode.ai/zen/go/v1")
        .keys(&["OPENCODE_GO_API_KEY"])
        .url_env("OPENCODE_GO_BASE_URL")
        .of(&["opencode.ai"])
        .also(&["opencode_go", "opencode-go-sub"]),
    chat("kilocode", "Kilo Code", "https://api.kilo.ai/api/gateway")
        .keys(&["KILOCODE_API_KEY"])
        .url_env("KILOCODE_BASE_URL")
        .of(&["kilo.ai"])
        .also(&["kilo"]),
    chat("huggingface", "Hugging Face", "https://router.huggingface.co/v1")
        .keys(&["HF_TOKEN"])
        .url_env("HF_BASE_URL")
        .of(&["huggingface.co"])
        .also(&["hf"]),
    chat("xiaomi", "Xiaomi MiMo", "https://api.xiaomimimo.com/v1")
        .keys(&["XIAOMI_API_KEY"])
        .url_env("XIAOMI_BASE_URL")
        .of(&["xiaomimimo.com"])
        .also(&["mimo"]),
    chat("tencent-tokenhub", "Tencent TokenHub", "https://tokenhub.tencentmaas.com/v1")
        .keys(&["TOKENHUB_API_KEY"])
        .url_env("TOKENHUB_BASE_URL")
        .of(&["tencentmaas.com"])
        .also(&["tencent"]),
    chat("ollama-cloud", "Ollama Cloud", "https://ollama.com/v1")
        .keys(&["OLLAMA_API_KEY"])
        .url_env("OLLAMA_BASE_URL")
        .of(&["ollama.com"]),
    chat("novita", "Novita", "https://api.novita.ai/openai/v1")
        .keys(&["NOVITA_API_KEY"])
        .url_env("NOVITA_BASE_URL")
        .of(&["novita.ai"])
        .also(&["novita-ai", "novitaai"]),
    chat("deepinfra", "DeepInfra", "https://api.deepinfra.com/v1/openai")
        .keys(&["DEEPINFRA_API_KEY"])
        .url_env("DEEPINFRA_BASE_URL")
        .of(&["deepinfra.com"])
        .also(&["deep-infra", "deepinfra-ai"]),
    chat("fireworks", "Fireworks", "https://api.fireworks.ai/inference/v1")
        .keys(&["FIREWORKS_API_KEY"])
        .of(&["fireworks.ai"])
        .also(&["fireworks-ai", "fw"]),
    chat("upstage", "Upstage", "https://api.upstage.ai/v1")
        .keys(&["UPSTAGE_API_KEY"])
        .of(&["upstage.ai"])
        .also(&["solar"]),
    chat("azure-foundry", "Azure Foundry", "")
        .keys(&["AZURE_FOUNDRY_API_KEY"])
        .url_env("AZURE_FOUNDRY_BASE_URL")
        .of(&["azure.com"])
        .also(&["azure", "azure-ai-foundry", "azure-ai"]),
    chat("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1")
        .keys(&["LM_API_KEY"])
        .url_env("LM_BASE_URL")
        .also(&["lm-studio", "lm_studio"])
        .key_optional(),
];

/// Providers that are reached with a login or another program's credentials, which are not taken.
pub const LOGIN_ONLY: &[&str] = &[
    "nous",
    "openai-codex",
    "xai-oauth",
    "qwen-oauth",
    "google-gemini-cli",
    "copilot",
    "copilot-acp",
    "github",
    "minimax-oauth",
    "bedrock",
    "aws",
    "vertex",
];

/// The provider of this name or alias.
pub fn find(name: &str) -> Option<&'static ProviderSpec> {
    let name = name.trim().to_lowercase();
    TABLE.iter().find(|spec| spec.id == name || spec.aliases.contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::provider::wire_of_url;
    use crate::url::BaseUrl;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique() {
        let mut seen = BTreeSet::new();
        for spec in TABLE {
            for name in spec.aliases.iter().chain([&spec.id]) {
                assert!(seen.insert(*name), "{name} names two providers");
                assert!(!LOGIN_ONLY.contains(name), "{name}");
            }
        }
    }

    #[test]
    fn every_key_may_go_to_its_own_address() {
        for spec in TABLE.iter().filter(|spec| !spec.base_url.is_empty()) {
            let url = BaseUrl::parse(spec.base_url).unwrap();
            let own = spec.domains.iter().any(|domain| url.is_in(domain));
            assert!(own || url.is_loopback(), "{}", spec.id);
            assert!(!spec.key_env.is_empty(), "{}", spec.id);
            assert!(url.is_https() || url.is_loopback(), "{}", spec.id);
        }
    }

    #[test]
    fn the_table_agrees_with_the_rules_for_addresses() {
        for spec in TABLE.iter().filter(|spec| !spec.base_url.is_empty()) {
            assert_eq!(wire_of_url(&BaseUrl::parse(spec.base_url).unwrap()), spec.wire, "{}", spec.id);
        }
    }

    #[test]
    fn aliases_are_found() {
        for (name, id) in [
            ("glm", "zai"),
            ("Grok", "xai"),
            ("claude", "anthropic"),
            ("hf", "huggingface"),
            ("novita-ai", "novita"),
        ] {
            assert_eq!(find(name).unwrap().id, id);
        }
        assert!(find("nothing").is_none());
    }
}
