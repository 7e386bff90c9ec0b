//! Secrets and addresses that live only in the environment: `.env` (0600) or the real one.

use super::super::spec::{secret, settings, text};

settings! {
    /// Secret for Airtable.
    AIRTABLE_API_KEY: Option<String> = secret("AIRTABLE_API_KEY").env_only();
    /// Secret for Alibaba Coding Plan.
    ALIBABA_CODING_PLAN_API_KEY: Option<String> = secret("ALIBABA_CODING_PLAN_API_KEY").env_only();
    /// Secret for Anthropic.
    ANTHROPIC_API_KEY: Option<String> = secret("ANTHROPIC_API_KEY").env_only();
    /// Secret for Anthropic.
    ANTHROPIC_TOKEN: Option<String> = secret("ANTHROPIC_TOKEN").env_only();
    /// Secret for the API server.
    API_SERVER_KEY: Option<String> = secret("API_SERVER_KEY").env_only();
    /// Secret for Arceeai.
    ARCEEAI_API_KEY: Option<String> = secret("ARCEEAI_API_KEY").env_only();
    /// Secret for Aws Bearer Token Bedrock.
    AWS_BEARER_TOKEN_BEDROCK: Option<String> = secret("AWS_BEARER_TOKEN_BEDROCK").env_only();
    /// Secret for Azure Foundry.
    AZURE_FOUNDRY_API_KEY: Option<String> = secret("AZURE_FOUNDRY_API_KEY").env_only();
    /// Secret for Bluebubbles.
    BLUEBUBBLES_PASSWORD: Option<String> = secret("BLUEBUBBLES_PASSWORD").env_only();
    /// Secret for Brave Search.
    BRAVE_SEARCH_API_KEY: Option<String> = secret("BRAVE_SEARCH_API_KEY").env_only();
    /// Secret for Browserbase.
    BROWSERBASE_API_KEY: Option<String> = secret("BROWSERBASE_API_KEY").env_only();
    /// Secret for Browser Use.
    BROWSER_USE_API_KEY: Option<String> = secret("BROWSER_USE_API_KEY").env_only();
    /// Secret for ByteRover.
    BRV_API_KEY: Option<String> = secret("BRV_API_KEY").env_only();
    /// Secret for Bitwarden.
    BWS_ACCESS_TOKEN: Option<String> = secret("BWS_ACCESS_TOKEN").env_only();
    /// Secret for Camofox.
    CAMOFOX_API_KEY: Option<String> = secret("CAMOFOX_API_KEY").env_only();
    /// Secret for Cerebras.
    CEREBRAS_API_KEY: Option<String> = secret("CEREBRAS_API_KEY").env_only();
    /// Secret for Claude Code Oauth.
    CLAUDE_CODE_OAUTH_TOKEN: Option<String> = secret("CLAUDE_CODE_OAUTH_TOKEN").env_only();
    /// Secret for Cohere.
    COHERE_API_KEY: Option<String> = secret("COHERE_API_KEY").env_only();
    /// Secret for Copilot Github.
    COPILOT_GITHUB_TOKEN: Option<String> = secret("COPILOT_GITHUB_TOKEN").env_only();
    /// Secret for Dashscope.
    DASHSCOPE_API_KEY: Option<String> = secret("DASHSCOPE_API_KEY").env_only();
    /// Secret for Daytona.
    DAYTONA_API_KEY: Option<String> = secret("DAYTONA_API_KEY").env_only();
    /// Secret for Deepinfra.
    DEEPINFRA_API_KEY: Option<String> = secret("DEEPINFRA_API_KEY").env_only();
    /// Secret for Deepseek.
    DEEPSEEK_API_KEY: Option<String> = secret("DEEPSEEK_API_KEY").env_only();
    /// Secret for Dingtalk.
    DINGTALK_CLIENT_SECRET: Option<String> = secret("DINGTALK_CLIENT_SECRET").env_only();
    /// Secret for Discord.
    DISCORD_BOT_TOKEN: Option<String> = secret("DISCORD_BOT_TOKEN").env_only();
    /// Secret for Elevenlabs.
    ELEVENLABS_API_KEY: Option<String> = secret("ELEVENLABS_API_KEY").env_only();
    /// Secret for the mail account.
    EMAIL_PASSWORD: Option<String> = secret("EMAIL_PASSWORD").env_only();
    /// Secret for Exa.
    EXA_API_KEY: Option<String> = secret("EXA_API_KEY").env_only();
    /// Secret for fal.
    FAL_KEY: Option<String> = secret("FAL_KEY").env_only();
    /// Secret for Feishu.
    FEISHU_APP_SECRET: Option<String> = secret("FEISHU_APP_SECRET").env_only();
    /// Secret for Firecrawl.
    FIRECRAWL_API_KEY: Option<String> = secret("FIRECRAWL_API_KEY").env_only();
    /// Secret for Fireworks.
    FIREWORKS_API_KEY: Option<String> = secret("FIREWORKS_API_KEY").env_only();
    /// Secret for Gateway Proxy.
    GATEWAY_PROXY_KEY: Option<String> = secret("GATEWAY_PROXY_KEY").env_only();
    /// Secret for Gemini.
    GEMINI_API_KEY: Option<String> = secret("GEMINI_API_KEY").env_only();
    /// Secret for GitHub.
    GH_TOKEN: Option<String> = secret("GH_TOKEN").env_only();
    /// Secret for Github.
    GITHUB_TOKEN: Option<String> = secret("GITHUB_TOKEN").env_only();
    /// Secret for Z.ai.
    GLM_API_KEY: Option<String> = secret("GLM_API_KEY").env_only();
    /// Secret for Gmi.
    GMI_API_KEY: Option<String> = secret("GMI_API_KEY").env_only();
    /// Secret for Google.
    GOOGLE_API_KEY: Option<String> = secret("GOOGLE_API_KEY").env_only();
    /// Secret for Google Chat Service Account Json.
    GOOGLE_CHAT_SERVICE_ACCOUNT_JSON: Option<String> = secret("GOOGLE_CHAT_SERVICE_ACCOUNT_JSON").env_only();
    /// Secret for Groq.
    GROQ_API_KEY: Option<String> = secret("GROQ_API_KEY").env_only();
    /// Secret for Home Assistant.
    HASS_TOKEN: Option<String> = secret("HASS_TOKEN").env_only();
    /// Secret for Langfuse.
    HERMES_LANGFUSE_SECRET_KEY: Option<String> = secret("HERMES_LANGFUSE_SECRET_KEY").env_only();
    /// Secret for Hugging Face.
    HF_TOKEN: Option<String> = secret("HF_TOKEN").env_only();
    /// Secret for Hindsight.
    HINDSIGHT_API_KEY: Option<String> = secret("HINDSIGHT_API_KEY").env_only();
    /// Secret for Honcho.
    HONCHO_API_KEY: Option<String> = secret("HONCHO_API_KEY").env_only();
    /// Secret for Irc Nickserv.
    IRC_NICKSERV_PASSWORD: Option<String> = secret("IRC_NICKSERV_PASSWORD").env_only();
    /// Secret for Irc Server.
    IRC_SERVER_PASSWORD: Option<String> = secret("IRC_SERVER_PASSWORD").env_only();
    /// Secret for Kilocode.
    KILOCODE_API_KEY: Option<String> = secret("KILOCODE_API_KEY").env_only();
    /// Secret for Kimi.
    KIMI_API_KEY: Option<String> = secret("KIMI_API_KEY").env_only();
    /// Secret for Kimi Cn.
    KIMI_CN_API_KEY: Option<String> = secret("KIMI_CN_API_KEY").env_only();
    /// Secret for Kimi Coding.
    KIMI_CODING_API_KEY: Option<String> = secret("KIMI_CODING_API_KEY").env_only();
    /// Secret for Krea.
    KREA_API_KEY: Option<String> = secret("KREA_API_KEY").env_only();
    /// Secret for Linear.
    LINEAR_API_KEY: Option<String> = secret("LINEAR_API_KEY").env_only();
    /// Secret for Line Channel.
    LINE_CHANNEL_ACCESS_TOKEN: Option<String> = secret("LINE_CHANNEL_ACCESS_TOKEN").env_only();
    /// Secret for Line Channel.
    LINE_CHANNEL_SECRET: Option<String> = secret("LINE_CHANNEL_SECRET").env_only();
    /// Secret for LM Studio.
    LM_API_KEY: Option<String> = secret("LM_API_KEY").env_only();
    /// Secret for Matrix.
    MATRIX_ACCESS_TOKEN: Option<String> = secret("MATRIX_ACCESS_TOKEN").env_only();
    /// Secret for Matrix.
    MATRIX_PASSWORD: Option<String> = secret("MATRIX_PASSWORD").env_only();
    /// Secret for Matrix Recovery.
    MATRIX_RECOVERY_KEY: Option<String> = secret("MATRIX_RECOVERY_KEY").env_only();
    /// Secret for Mattermost.
    MATTERMOST_TOKEN: Option<String> = secret("MATTERMOST_TOKEN").env_only();
    /// Secret for Mem0.
    MEM0_API_KEY: Option<String> = secret("MEM0_API_KEY").env_only();
    /// Secret for Minimax.
    MINIMAX_API_KEY: Option<String> = secret("MINIMAX_API_KEY").env_only();
    /// Secret for Minimax Cn.
    MINIMAX_CN_API_KEY: Option<String> = secret("MINIMAX_CN_API_KEY").env_only();
    /// Secret for Mistral.
    MISTRAL_API_KEY: Option<String> = secret("MISTRAL_API_KEY").env_only();
    /// Secret for Modal Token.
    MODAL_TOKEN_SECRET: Option<String> = secret("MODAL_TOKEN_SECRET").env_only();
    /// Secret for Notion.
    NOTION_API_KEY: Option<String> = secret("NOTION_API_KEY").env_only();
    /// Secret for Novita.
    NOVITA_API_KEY: Option<String> = secret("NOVITA_API_KEY").env_only();
    /// Secret for Ntfy.
    NTFY_TOKEN: Option<String> = secret("NTFY_TOKEN").env_only();
    /// Secret for Nvidia.
    NVIDIA_API_KEY: Option<String> = secret("NVIDIA_API_KEY").env_only();
    /// Secret for Ollama.
    OLLAMA_API_KEY: Option<String> = secret("OLLAMA_API_KEY").env_only();
    /// Secret for Openai.
    OPENAI_API_KEY: Option<String> = secret("OPENAI_API_KEY").env_only();
    /// Secret for Opencode Go.
    OPENCODE_GO_API_KEY: Option<String> = secret("OPENCODE_GO_API_KEY").env_only();
    /// Secret for Opencode Zen.
    OPENCODE_ZEN_API_KEY: Option<String> = secret("OPENCODE_ZEN_API_KEY").env_only();
    /// Secret for Openrouter.
    OPENROUTER_API_KEY: Option<String> = secret("OPENROUTER_API_KEY").env_only();
    /// Secret for Openviking.
    OPENVIKING_API_KEY: Option<String> = secret("OPENVIKING_API_KEY").env_only();
    /// Secret for 1Password.
    OP_SERVICE_ACCOUNT_TOKEN: Option<String> = secret("OP_SERVICE_ACCOUNT_TOKEN").env_only();
    /// Secret for Parallel.
    PARALLEL_API_KEY: Option<String> = secret("PARALLEL_API_KEY").env_only();
    /// Secret for Perplexity.
    PERPLEXITY_API_KEY: Option<String> = secret("PERPLEXITY_API_KEY").env_only();
    /// Secret for Photon Project.
    PHOTON_PROJECT_SECRET: Option<String> = secret("PHOTON_PROJECT_SECRET").env_only();
    /// Secret for Qq.
    QQ_CLIENT_SECRET: Option<String> = secret("QQ_CLIENT_SECRET").env_only();
    /// Secret for Retaindb.
    RETAINDB_API_KEY: Option<String> = secret("RETAINDB_API_KEY").env_only();
    /// Secret for Slack.
    SLACK_APP_TOKEN: Option<String> = secret("SLACK_APP_TOKEN").env_only();
    /// Secret for Slack.
    SLACK_BOT_TOKEN: Option<String> = secret("SLACK_BOT_TOKEN").env_only();
    /// Secret for Stepfun.
    STEPFUN_API_KEY: Option<String> = secret("STEPFUN_API_KEY").env_only();
    /// Secret for Supermemory.
    SUPERMEMORY_API_KEY: Option<String> = secret("SUPERMEMORY_API_KEY").env_only();
    /// Secret for Tavily.
    TAVILY_API_KEY: Option<String> = secret("TAVILY_API_KEY").env_only();
    /// Secret for Teams.
    TEAMS_CLIENT_SECRET: Option<String> = secret("TEAMS_CLIENT_SECRET").env_only();
    /// Secret for Telegram.
    TELEGRAM_BOT_TOKEN: Option<String> = secret("TELEGRAM_BOT_TOKEN").env_only();
    /// Secret for Tenor.
    TENOR_API_KEY: Option<String> = secret("TENOR_API_KEY").env_only();
    /// Secret for Together.
    TOGETHER_API_KEY: Option<String> = secret("TOGETHER_API_KEY").env_only();
    /// Secret for Tokenhub.
    TOKENHUB_API_KEY: Option<String> = secret("TOKENHUB_API_KEY").env_only();
    /// Secret for Tool Gateway.
    TOOL_GATEWAY_USER_TOKEN: Option<String> = secret("TOOL_GATEWAY_USER_TOKEN").env_only();
    /// Secret for Twilio.
    TWILIO_AUTH_TOKEN: Option<String> = secret("TWILIO_AUTH_TOKEN").env_only();
    /// Secret for Upstage.
    UPSTAGE_API_KEY: Option<String> = secret("UPSTAGE_API_KEY").env_only();
    /// Secret for Voice Tools Openai.
    VOICE_TOOLS_OPENAI_KEY: Option<String> = secret("VOICE_TOOLS_OPENAI_KEY").env_only();
    /// Secret for Webhook.
    WEBHOOK_SECRET: Option<String> = secret("WEBHOOK_SECRET").env_only();
    /// Secret for Wecom Callback Corp.
    WECOM_CALLBACK_CORP_SECRET: Option<String> = secret("WECOM_CALLBACK_CORP_SECRET").env_only();
    /// Secret for Wecom Callback Encoding Aes.
    WECOM_CALLBACK_ENCODING_AES_KEY: Option<String> = secret("WECOM_CALLBACK_ENCODING_AES_KEY").env_only();
    /// Secret for Wecom Callback.
    WECOM_CALLBACK_TOKEN: Option<String> = secret("WECOM_CALLBACK_TOKEN").env_only();
    /// Secret for Wecom.
    WECOM_SECRET: Option<String> = secret("WECOM_SECRET").env_only();
    /// Secret for Xai.
    XAI_API_KEY: Option<String> = secret("XAI_API_KEY").env_only();
    /// Secret for Xiaomi.
    XIAOMI_API_KEY: Option<String> = secret("XIAOMI_API_KEY").env_only();
    /// Secret for Zai.
    ZAI_API_KEY: Option<String> = secret("ZAI_API_KEY").env_only();
    /// Secret for Z Ai.
    Z_AI_API_KEY: Option<String> = secret("Z_AI_API_KEY").env_only();
    /// Address of Alibaba Coding Plan, when it is not the usual one.
    ALIBABA_CODING_PLAN_BASE_URL: String = text("ALIBABA_CODING_PLAN_BASE_URL", "").env_only();
    /// Address of Anthropic, when it is not the usual one.
    ANTHROPIC_BASE_URL: String = text("ANTHROPIC_BASE_URL", "").env_only();
    /// Address of Arcee, when it is not the usual one.
    ARCEE_BASE_URL: String = text("ARCEE_BASE_URL", "").env_only();
    /// Address of Azure Foundry, when it is not the usual one.
    AZURE_FOUNDRY_BASE_URL: String = text("AZURE_FOUNDRY_BASE_URL", "").env_only();
    /// Address of Dashscope, when it is not the usual one.
    DASHSCOPE_BASE_URL: String = text("DASHSCOPE_BASE_URL", "").env_only();
    /// Address of Deepinfra, when it is not the usual one.
    DEEPINFRA_BASE_URL: String = text("DEEPINFRA_BASE_URL", "").env_only();
    /// Address of Deepseek, when it is not the usual one.
    DEEPSEEK_BASE_URL: String = text("DEEPSEEK_BASE_URL", "").env_only();
    /// Address of Firecrawl, when it is not the usual one.
    FIRECRAWL_API_URL: String = text("FIRECRAWL_API_URL", "").env_only();
    /// Address of Gemini, when it is not the usual one.
    GEMINI_BASE_URL: String = text("GEMINI_BASE_URL", "").env_only();
    /// Address of Glm, when it is not the usual one.
    GLM_BASE_URL: String = text("GLM_BASE_URL", "").env_only();
    /// Address of Gmi, when it is not the usual one.
    GMI_BASE_URL: String = text("GMI_BASE_URL", "").env_only();
    /// Address of Langfuse, when it is not the usual one.
    HERMES_LANGFUSE_BASE_URL: String = text("HERMES_LANGFUSE_BASE_URL", "").env_only();
    /// Address of Qwen, when it is not the usual one.
    HERMES_QWEN_BASE_URL: String = text("HERMES_QWEN_BASE_URL", "").env_only();
    /// Address of Hf, when it is not the usual one.
    HF_BASE_URL: String = text("HF_BASE_URL", "").env_only();
    /// Address of Honcho, when it is not the usual one.
    HONCHO_BASE_URL: String = text("HONCHO_BASE_URL", "").env_only();
    /// Address of Kilocode, when it is not the usual one.
    KILOCODE_BASE_URL: String = text("KILOCODE_BASE_URL", "").env_only();
    /// Address of Kimi, when it is not the usual one.
    KIMI_BASE_URL: String = text("KIMI_BASE_URL", "").env_only();
    /// Address of Lm, when it is not the usual one.
    LM_BASE_URL: String = text("LM_BASE_URL", "").env_only();
    /// Address of Minimax, when it is not the usual one.
    MINIMAX_BASE_URL: String = text("MINIMAX_BASE_URL", "").env_only();
    /// Address of Minimax Cn, when it is not the usual one.
    MINIMAX_CN_BASE_URL: String = text("MINIMAX_CN_BASE_URL", "").env_only();
    /// Address of Nous, when it is not the usual one.
    NOUS_BASE_URL: String = text("NOUS_BASE_URL", "").env_only();
    /// Address of Novita, when it is not the usual one.
    NOVITA_BASE_URL: String = text("NOVITA_BASE_URL", "").env_only();
    /// Address of Nvidia, when it is not the usual one.
    NVIDIA_BASE_URL: String = text("NVIDIA_BASE_URL", "").env_only();
    /// Address of Ollama, when it is not the usual one.
    OLLAMA_BASE_URL: String = text("OLLAMA_BASE_URL", "").env_only();
    /// Address of Openai, when it is not the usual one.
    OPENAI_BASE_URL: String = text("OPENAI_BASE_URL", "").env_only();
    /// Address of Opencode Go, when it is not the usual one.
    OPENCODE_GO_BASE_URL: String = text("OPENCODE_GO_BASE_URL", "").env_only();
    /// Address of Opencode Zen, when it is not the usual one.
    OPENCODE_ZEN_BASE_URL: String = text("OPENCODE_ZEN_BASE_URL", "").env_only();
    /// Address of Openrouter, when it is not the usual one.
    OPENROUTER_BASE_URL: String = text("OPENROUTER_BASE_URL", "").env_only();
    /// Address of Retaindb, when it is not the usual one.
    RETAINDB_BASE_URL: String = text("RETAINDB_BASE_URL", "").env_only();
    /// Address of your own SearXNG, which searches the web without a key.
    SEARXNG_URL: String = text("SEARXNG_URL", "").env_only();
    /// Address of Stepfun, when it is not the usual one.
    STEPFUN_BASE_URL: String = text("STEPFUN_BASE_URL", "").env_only();
    /// Address of Tavily, when it is not the usual one.
    TAVILY_BASE_URL: String = text("TAVILY_BASE_URL", "").env_only();
    /// Address of Tokenhub, when it is not the usual one.
    TOKENHUB_BASE_URL: String = text("TOKENHUB_BASE_URL", "").env_only();
    /// Address of Upstage, when it is not the usual one.
    UPSTAGE_BASE_URL: String = text("UPSTAGE_BASE_URL", "").env_only();
    /// Address of Xai, when it is not the usual one.
    XAI_BASE_URL: String = text("XAI_BASE_URL", "").env_only();
    /// Address of Xiaomi, when it is not the usual one.
    XIAOMI_BASE_URL: String = text("XIAOMI_BASE_URL", "").env_only();
}
