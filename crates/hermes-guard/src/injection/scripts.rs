//! Orders in scripts without blanks between words, or with endings grown to them: parts that follow each other closely.

use std::sync::OnceLock;

use aho_corasick::AhoCorasick;

use super::Family;

struct Pattern {
    family: Family,
    /// Alternatives for each part, in order.
    parts: &'static [&'static [&'static str]],
}

/// Most characters between two parts.
const GAP: usize = 12;
/// Bytes that hold the gap and the longest part.
const NEAR: usize = 128;

const PATTERNS: &[Pattern] = &[
    // Chinese.
    Pattern {
        family: Family::Override,
        parts: &[
            &["忽略", "无视", "無視", "忘记", "忘記", "不要理会", "不理會"],
            &["以上", "之前", "先前", "上述", "前面", "此前", "系统", "系統", "你的"],
            &["指令", "指示", "说明", "說明", "提示", "规则", "規則", "命令", "要求"],
        ],
    },
    Pattern {
        family: Family::Secrecy,
        parts: &[
            &["不要", "别", "切勿", "請勿", "请勿"],
            &["告诉", "告訴", "告知", "透露", "提及"],
            &["用户", "用戶", "使用者"],
        ],
    },
    // Japanese.
    Pattern {
        family: Family::Override,
        parts: &[
            &["以前", "これまで", "上記", "前の", "今まで", "システム"],
            &["指示", "命令", "指令", "プロンプト", "ルール"],
            &["無視", "忘れ"],
        ],
    },
    Pattern {
        family: Family::Secrecy,
        parts: &[&["ユーザー", "利用者"], &["言わないで", "伝えないで", "知らせないで", "教えないで"]],
    },
    // Korean.
    Pattern {
        family: Family::Override,
        parts: &[
            &["이전", "앞의", "위의", "기존", "지금까지"],
            &["지시", "명령", "지침", "프롬프트", "규칙"],
            &["무시", "잊어", "잊으"],
        ],
    },
    // Hindi.
    Pattern {
        family: Family::Override,
        parts: &[
            &["पिछले", "पूर्व", "पहले", "उपरोक्त"],
            &["निर्देश", "आदेश"],
            &["अनदेखा", "नज़रअंदाज़", "नजरअंदाज", "उपेक्षा", "भूल"],
        ],
    },
    // Arabic.
    Pattern {
        family: Family::Override,
        parts: &[&["تجاهل", "انس"], &["التعليمات", "الأوامر", "الاوامر", "تعليمات"], &["السابقة", "أعلاه"]],
    },
];

/// What a line of such a script tries.
pub(super) fn in_line(line: &str) -> impl Iterator<Item = Family> {
    let patterns = if may_start_one(line) { PATTERNS } else { &[] };
    patterns.iter().filter(|pattern| pattern.is_in(line)).map(|pattern| pattern.family)
}

/// Whether the first part of any pattern is in the line, found in one pass.
fn may_start_one(line: &str) -> bool {
    static STARTS: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let starts = STARTS.get_or_init(|| {
        let starts = PATTERNS.iter().filter_map(|pattern| pattern.parts.first()).copied().flatten();
        AhoCorasick::new(starts).ok()
    });
    starts.as_ref().is_none_or(|starts| starts.is_match(line))
}

impl Pattern {
    fn is_in(&self, line: &str) -> bool {
        let Some((first, rest)) = self.parts.split_first() else { return false };
        let mut starts = first.iter().flat_map(|start| line.match_indices(start));
        starts.any(|(at, start)| {
            rest.iter().try_fold(&line[at + start.len()..], |text, part| behind(text, part)).is_some()
        })
    }
}

/// What follows the next of these parts, if one is near.
fn behind<'t>(text: &'t str, part: &[&str]) -> Option<&'t str> {
    // Only what is near is searched, or a line of nothing but first parts would take the square of its length.
    let near = &text[..text.floor_char_boundary(NEAR)];
    let (at, length) = part.iter().filter_map(|part| Some((near.find(part)?, part.len()))).min()?;
    (near[..at].chars().count() <= GAP).then(|| &text[at + length..])
}
