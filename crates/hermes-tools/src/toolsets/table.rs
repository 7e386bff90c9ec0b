//! The toolsets, as data. Their names are shared with other programs that use the same settings.

/// A named group of tools.
#[derive(Debug, PartialEq, Eq)]
pub struct Toolset {
    /// Its name.
    pub name: &'static str,
    /// What it is for, in a few words.
    pub about: &'static str,
    /// What kind it is.
    pub kind: Kind,
    /// Whether it is on when nobody chose.
    pub preset: Preset,
    /// Its own tools.
    pub(super) tools: &'static [&'static str],
    /// Whether it has the tools of a usual conversation.
    pub(super) core: Core,
    /// Tools of a usual conversation that it does not have.
    pub(super) without: &'static [&'static str],
    /// Toolsets whose tools it has as well.
    pub(super) includes: &'static [&'static str],
}

/// Kinds of toolsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One that is switched on and off.
    Basic,
    /// One made of others.
    Composite,
    /// What a platform has.
    Platform,
}

/// Whether a toolset is on when nobody chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// On.
    On,
    /// Off until somebody wants it.
    Off,
}

/// Whether a toolset has the tools of a usual conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Core {
    Yes,
    No,
}

const fn basic(
    name: &'static str,
    about: &'static str,
    preset: Preset,
    tools: &'static [&'static str],
) -> Toolset {
    Toolset { name, about, kind: Kind::Basic, preset, tools, core: Core::No, without: &[], includes: &[] }
}

const fn composite(
    name: &'static str,
    about: &'static str,
    tools: &'static [&'static str],
    includes: &'static [&'static str],
) -> Toolset {
    let (kind, preset) = (Kind::Composite, Preset::Off);
    Toolset { name, about, kind, preset, tools, core: Core::No, without: &[], includes }
}

/// A platform: a usual conversation, plus and minus some tools.
const fn platform(
    name: &'static str,
    about: &'static str,
    tools: &'static [&'static str],
    without: &'static [&'static str],
) -> Toolset {
    let (kind, preset) = (Kind::Platform, Preset::Off);
    Toolset { name, about, kind, preset, tools, core: Core::Yes, without, includes: &[] }
}

use Preset::{Off, On};

/// Every toolset, in the order they are shown.
pub static ALL: &[Toolset] = &[
    basic("web", "search the web and read pages", On, &["web_search", "web_extract"]),
    basic("browser", "steer a browser", On, BROWSER),
    basic("terminal", "run commands", On, &["terminal", "process"]),
    basic("file", "read, write and search files", On, &["read_file", "write_file", "patch", "search_files"]),
    basic("code_execution", "run Python that calls tools", On, &["execute_code"]),
    basic("vision", "look at images", On, &["vision_analyze"]),
    basic("video", "look at videos", Off, &["video_analyze"]),
    basic("image_gen", "make images", On, &["image_generate"]),
    basic("video_gen", "make videos", Off, &["video_generate", "xai_video_edit", "xai_video_extend"]),
    basic("x_search", "search posts on X", Off, &["x_search"]),
    basic("tts", "speak", On, &["text_to_speech"]),
    basic("skills", "use and write skills", On, &["skills_list", "skill_view", "skill_manage"]),
    basic("todo", "keep a task list", On, &["todo"]),
    basic("memory", "remember across conversations", On, &["memory"]),
    basic("context_engine", "tools of the active context engine", Off, &[]),
    basic("session_search", "search earlier conversations", On, &["session_search"]),
    basic("project", "projects", Off, &["project_list", "project_create", "project_switch"]),
    basic("clarify", "ask the user", On, &["clarify"]),
    basic("delegation", "hand work to subagents", On, &["delegate_task"]),
    basic("cronjob", "scheduled jobs", On, &["cronjob"]),
    basic("messaging", "send messages to chats", On, &["send_message"]),
    basic("kanban", "work on boards", Off, KANBAN),
    basic("homeassistant", "control a smart home", Off, HOME_ASSISTANT),
    basic("spotify", "play music", Off, SPOTIFY),
    basic("moa", "ask several models at once", Off, &["mixture_of_agents"]),
    basic("computer_use", "use the desktop", On, &["computer_use"]),
    basic("discord", "read and take part in Discord", Off, &["discord"]),
    basic("discord_admin", "look after Discord servers", Off, &["discord_admin"]),
    basic("yuanbao", "Yuanbao groups", Off, YUANBAO),
    basic("feishu_doc", "read Feishu documents", Off, &["feishu_doc_read"]),
    basic("feishu_drive", "comments in Feishu Drive", Off, FEISHU_DRIVE),
    composite("lite", "the least that gets work done", &[], &["terminal", "file"]),
    composite("search", "search the web only", &["web_search"], &[]),
    composite("debugging", "commands, web and files", &["terminal", "process"], &["web", "file"]),
    composite("safe", "nothing that changes anything", &[], &["web", "vision", "image_gen"]),
    composite(
        "coding",
        "what a programmer needs",
        &[],
        &[
            "web",
            "terminal",
            "file",
            "vision",
            "skills",
            "browser",
            "todo",
            "memory",
            "session_search",
            "clarify",
            "code_execution",
            "delegation",
        ],
    ),
    platform("hermes-cli", "the command line", &[], &[]),
    platform("hermes-cron", "scheduled jobs", &[], &[]),
    platform("hermes-acp", "editors", &[], WITHOUT_PEOPLE),
    platform("hermes-api-server", "the API server", &[], WITHOUT_CHAT),
    platform("hermes-telegram", "Telegram", &[], &[]),
    platform("hermes-discord", "Discord", &["discord", "discord_admin"], &[]),
    platform("hermes-whatsapp", "WhatsApp", &[], &[]),
    platform("hermes-slack", "Slack", &[], &[]),
    platform("hermes-signal", "Signal", &[], &[]),
    platform("hermes-bluebubbles", "BlueBubbles", &[], &[]),
    platform("hermes-homeassistant", "Home Assistant", &[], &[]),
    platform("hermes-email", "e-mail", &[], &[]),
    platform("hermes-sms", "SMS", &[], &[]),
    platform("hermes-mattermost", "Mattermost", &[], &[]),
    platform("hermes-matrix", "Matrix", &[], &[]),
    platform("hermes-dingtalk", "DingTalk", &[], &[]),
    platform("hermes-feishu", "Feishu", FEISHU, &[]),
    platform("hermes-weixin", "Weixin", &[], &[]),
    platform("hermes-qqbot", "QQ", &[], &[]),
    platform("hermes-wecom", "WeCom", &[], &[]),
    platform("hermes-wecom-callback", "WeCom callbacks", &[], &[]),
    platform("hermes-yuanbao", "Yuanbao", YUANBAO, &[]),
    composite("hermes-webhook", "webhooks", &["web_search", "web_extract", "vision_analyze", "clarify"], &[]),
    composite(
        "hermes-gateway",
        "every platform",
        &[],
        &["hermes-telegram", "hermes-discord", "hermes-feishu", "hermes-yuanbao", "hermes-webhook"],
    ),
];

/// Platforms and the toolset each has by default.
pub(super) static PLATFORMS: &[(&str, &str)] = &[
    ("cli", "hermes-cli"),
    ("telegram", "hermes-telegram"),
    ("discord", "hermes-discord"),
    ("slack", "hermes-slack"),
    ("whatsapp", "hermes-whatsapp"),
    ("whatsapp_cloud", "hermes-whatsapp"),
    ("signal", "hermes-signal"),
    ("bluebubbles", "hermes-bluebubbles"),
    ("email", "hermes-email"),
    ("homeassistant", "hermes-homeassistant"),
    ("mattermost", "hermes-mattermost"),
    ("matrix", "hermes-matrix"),
    ("dingtalk", "hermes-dingtalk"),
    ("feishu", "hermes-feishu"),
    ("wecom", "hermes-wecom"),
    ("wecom_callback", "hermes-wecom-callback"),
    ("weixin", "hermes-weixin"),
    ("qqbot", "hermes-qqbot"),
    ("yuanbao", "hermes-yuanbao"),
    ("sms", "hermes-sms"),
    ("webhook", "hermes-webhook"),
    ("api_server", "hermes-api-server"),
    ("acp", "hermes-acp"),
    ("cron", "hermes-cron"),
];

/// The tools of a usual conversation.
pub(super) static CORE: &[&str] = &[
    "web_search",
    "web_extract",
    "terminal",
    "process",
    "read_file",
    "write_file",
    "patch",
    "search_files",
    "vision_analyze",
    "image_generate",
    "skills_list",
    "skill_view",
    "skill_manage",
    "browser_navigate",
    "browser_snapshot",
    "browser_click",
    "browser_type",
    "browser_scroll",
    "browser_back",
    "browser_press",
    "browser_get_images",
    "browser_vision",
    "browser_console",
    "browser_cdp",
    "browser_dialog",
    "text_to_speech",
    "todo",
    "memory",
    "session_search",
    "clarify",
    "execute_code",
    "delegate_task",
    "cronjob",
    "send_message",
    "ha_list_entities",
    "ha_get_state",
    "ha_list_services",
    "ha_call_service",
    "kanban_show",
    "kanban_list",
    "kanban_complete",
    "kanban_block",
    "kanban_heartbeat",
    "kanban_comment",
    "kanban_create",
    "kanban_link",
    "kanban_unblock",
    "kanban_attach",
    "kanban_attach_url",
    "kanban_attachments",
    "computer_use",
];

static BROWSER: &[&str] = &[
    "browser_navigate",
    "browser_snapshot",
    "browser_click",
    "browser_type",
    "browser_scroll",
    "browser_back",
    "browser_press",
    "browser_get_images",
    "browser_vision",
    "browser_console",
    "browser_cdp",
    "browser_dialog",
    "web_search",
];
static KANBAN: &[&str] = &[
    "kanban_show",
    "kanban_list",
    "kanban_complete",
    "kanban_block",
    "kanban_heartbeat",
    "kanban_comment",
    "kanban_create",
    "kanban_link",
    "kanban_unblock",
    "kanban_attach",
    "kanban_attach_url",
    "kanban_attachments",
];
static HOME_ASSISTANT: &[&str] = &["ha_list_entities", "ha_get_state", "ha_list_services", "ha_call_service"];
static SPOTIFY: &[&str] = &[
    "spotify_playback",
    "spotify_devices",
    "spotify_queue",
    "spotify_search",
    "spotify_playlists",
    "spotify_albums",
    "spotify_library",
];
static YUANBAO: &[&str] =
    &["yb_query_group_info", "yb_query_group_members", "yb_send_dm", "yb_search_sticker", "yb_send_sticker"];
static FEISHU_DRIVE: &[&str] = &[
    "feishu_drive_list_comments",
    "feishu_drive_list_comment_replies",
    "feishu_drive_reply_comment",
    "feishu_drive_add_comment",
];
static FEISHU: &[&str] = &[
    "feishu_doc_read",
    "feishu_drive_list_comments",
    "feishu_drive_list_comment_replies",
    "feishu_drive_reply_comment",
    "feishu_drive_add_comment",
];
/// What makes no sense where the person sits in an editor.
static WITHOUT_PEOPLE: &[&str] = &[
    "image_generate",
    "text_to_speech",
    "clarify",
    "cronjob",
    "send_message",
    "ha_list_entities",
    "ha_get_state",
    "ha_list_services",
    "ha_call_service",
    "kanban_show",
    "kanban_list",
    "kanban_complete",
    "kanban_block",
    "kanban_heartbeat",
    "kanban_comment",
    "kanban_create",
    "kanban_link",
    "kanban_unblock",
    "kanban_attach",
    "kanban_attach_url",
    "kanban_attachments",
    "computer_use",
];
/// What makes no sense where a program asks.
static WITHOUT_CHAT: &[&str] = &[
    "text_to_speech",
    "clarify",
    "send_message",
    "kanban_show",
    "kanban_list",
    "kanban_complete",
    "kanban_block",
    "kanban_heartbeat",
    "kanban_comment",
    "kanban_create",
    "kanban_link",
    "kanban_unblock",
    "kanban_attach",
    "kanban_attach_url",
    "kanban_attachments",
    "computer_use",
];
