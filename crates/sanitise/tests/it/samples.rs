//! Honest texts of our own that tempt a sanitiser: code full of angles and bars, markup, diffs, and scripts that need
//! invisible characters. Mode `clean` must leave every one of them as it is.

/// Name, group and text.
pub(crate) const SAMPLES: &[(&str, &str, &str)] = &[
    (
        "Rust",
        "code",
        "fn first<'a, T>(xs: &'a [T]) -> Option<&'a T> {\n\tmatch xs { [x, ..] => Some(x), [] => None }\n}\nlet f = |a: u8| a | 1 << 3;\n",
    ),
    (
        "C",
        "code",
        "#include <stdio.h>\nint main(int argc, char *argv[]) { return argv[argc-1][0] <= '|' ? 0 : 1; }\n",
    ),
    (
        "F#",
        "code",
        "let result = [| 1; 2; 3 |] |> Array.map (fun x -> x * 2)\nlet g = f <| x |> h\nlet (<|>) a b = a ||| b\n",
    ),
    (
        "Elm",
        "code",
        "view model = div [] <| List.map item <| model.items\nupdate = model |> setName \"x\" |> save\n",
    ),
    (
        "Elixir",
        "code",
        "list |> Enum.map(&(&1 * 2)) |> Enum.sum()\n<<head::8, rest::binary>> = data\n",
    ),
    (
        "Haskell",
        "code",
        "parser = (,) <$> number <*> (symbol <|> string \"||\") <|> empty\nx = [ y | y <- [1..10], y <= 5 ]\n",
    ),
    (
        "OCaml",
        "code",
        "let a = [|1;2;3|] in a.(0) <- 4; [| a |]\n",
    ),
    (
        "shell",
        "code",
        "cat <<EOF | sed 's/[<>]//g' >&2\n${array[@]} && [[ -n \"$x\" ]] || echo \"%s\\n\"\nEOF\n",
    ),
    (
        "Python",
        "code",
        "xs = [x for x in range(10) if x < 5]\nprint(f\"{xs[0]:>10}|{xs[-1]:<10}|\")\nre.compile(r\"<\\|[^|]+\\|>\")\n",
    ),
    (
        "TypeScript",
        "code",
        "type A<T> = T extends Array<infer U> ? U[] : never; const x = <T,>(a: T[]) => a[0] as T | undefined;\n",
    ),
    (
        "regular expressions",
        "code",
        "^<[a-z]+(\\|[^>]*)?>$ and [^\\[\\]]+ and (?<name>\\w+)\n",
    ),
    (
        "HTML",
        "markup",
        "<!DOCTYPE html><p class=\"x\">a &amp; b &lt;c&gt; &nbsp;</p><b>bold</b><ul><li>[1]</li></ul><!-- <| -->\n",
    ),
    (
        "XML",
        "markup",
        "<?xml version=\"1.0\"?><ns:a xmlns:ns=\"urn:x\"><ns:b id='1'/><![CDATA[ x < y ]]></ns:a>\n",
    ),
    (
        "Markdown",
        "markup",
        "# Title\n\n| a | b |\n|---|---|\n| `<x>` | [link](https://example.test/a%20b) |\n\n- [ ] open\n- [x] done\n\n> [!NOTE]\n",
    ),
    (
        "LaTeX",
        "markup",
        "\\[ \\left< x \\middle| y \\right> \\] and $|a|<|b|$ \\begin{cases} [0,1] \\end{cases}\n",
    ),
    (
        "BBCode",
        "markup",
        "[b]bold[/b] [i]x[/i] [url=https://example.test]link[/url] [quote]q[/quote]\n",
    ),
    (
        "man page",
        "markup",
        "usage: tool [OPTIONS] <FILE> [ARGS...]\n\n  -v | --verbose   say more [default: off]\n",
    ),
    (
        "JSON",
        "data",
        "{\"a\": [1, 2, {\"b\": \"<c>\", \"d\": \"x|y\"}], \"e\": \"tab\\tand \\u00e9 \\\"quotes\\\"\", \"url\": \"https://example.test/?a=%5B1%5D\"}\n",
    ),
    (
        "CSV",
        "data",
        "id;name;note\n1;\"O'Brien, \"\"Pat\"\"\";<none>\n2;Søren;[empty]\n",
    ),
    (
        "log",
        "data",
        "2026-08-01T12:00:00Z INFO [worker-1] <req 17> took 12ms | ok\n",
    ),
    (
        "diff",
        "diff",
        "--- a/x.rs\n+++ b/x.rs\n@@ -1,3 +1,3 @@ fn main() {\n-    if a < b {\n+    if a <= b {\n     x[0] |= 1;\n",
    ),
    (
        "diff with CRLF",
        "diff",
        "@@ -1 +1 @@\r\n-old [a]\r\n+new <b>\r\n\r\n",
    ),
    (
        "mail",
        "prose",
        "From: A <a@example.test>\nTo: B <b@example.test>\nSubject: Re: [list] hello\n\n> quoted | text\n\nBest regards,\nA.\n",
    ),
    (
        "maths",
        "prose",
        "x² + y² ≤ ½·10⁻³ ∧ ℌ ≅ 𝐱 ≠ ∅, Ⅳ. № 5, 20 °C … “quoted” — dash, naïve café ﬁne\n",
    ),
    (
        "Persian",
        "joining script",
        "می\u{200C}خواهم کتاب\u{200C}هایم را به خانه\u{200C}شان ببرم، نمی\u{200C}شود؛ سال ۱۴۰۳ ه\u{200D}.ش.\n",
    ),
    (
        "Persian, vocalised",
        "joining script",
        "مِی\u{200C}رَوَم و گُفته\u{200C}اَند\n",
    ),
    (
        "Arabic",
        "joining script",
        "كُلُّ النَّاسِ يُولَدُونَ أَحْرَارًا، السنة ١٤٤٦ ه\u{200D} والحمد لله ﷺ\n",
    ),
    (
        "Urdu",
        "joining script",
        "یہ ایک جملہ ہے جو اردو میں لکھا گیا ہے۔ بے\u{200C}شک\n",
    ),
    (
        "Hebrew with marks",
        "right to left",
        "בְּרֵאשִׁית בָּרָא אֱלֹהִים \u{200F}(C++)\u{200F} שלום\n",
    ),
    (
        "Hebrew with isolates",
        "right to left",
        "הקובץ \u{2066}report.pdf\u{2069} נשמר בהצלחה\n",
    ),
    (
        "Hindi",
        "Indic",
        "क्\u{200D}ष और क्\u{200C}ष, सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता\n",
    ),
    (
        "Bengali",
        "Indic",
        "র\u{200D}্যাব এবং উৎ, ত্\u{200D} সমস্ত মানুষ স্বাধীনভাবে\n",
    ),
    (
        "Malayalam",
        "Indic",
        "അവന്\u{200D} അവള്\u{200D} മനുഷ്യര്\u{200D}, എല്ലാവരും\n",
    ),
    (
        "Kannada",
        "Indic",
        "ರ\u{200D}್ಯಾಂಕ್ ಎಲ್ಲಾ ಮಾನವರೂ ಸ್ವತಂತ್ರರಾಗಿಯೇ ಅರ್\u{200C}ಥ\n",
    ),
    (
        "Sinhala",
        "Indic",
        "ශ්\u{200D}රී ලංකාව, ක්\u{200D}ෂ සියලු මනුෂ්\u{200D}යයෝ\n",
    ),
    (
        "Tamil",
        "Indic",
        "மனிதப் பிறவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்; க்\u{200C}ஷ\n",
    ),
    (
        "Marathi",
        "Indic",
        "सर्\u{200D}व मानवी व्यक्ति, दर\u{94D}\u{200D}या कोऱ्या\n",
    ),
    (
        "Thai",
        "Asian",
        "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกัน น้ำ กำลัง\n",
    ),
    ("Khmer", "Asian", "មនុស្សទាំងអស់កើតមកមានសេរីភាព\n"),
    (
        "Mongolian",
        "Asian",
        "ᠬᠦᠮᠦᠨ\u{180B} ᠪᠦᠷ ᠲᠥᠷᠥᠵᠦ\u{202F}ᠢᠢᠨ\n",
    ),
    (
        "Chinese",
        "Asian",
        "人人生而自由，在尊严和权利上一律平等。他说：“你好！”（见第３页）［注］《书名》　　缩进\n",
    ),
    (
        "Japanese",
        "Asian",
        "すべての人間は、生まれながらにして自由であり、ｶﾀｶﾅと葛\u{E0100}城市と辻\u{E0101}。〜「引用」\n",
    ),
    (
        "Korean",
        "Asian",
        "모든 인간은 태어날 때부터 자유로우며 \u{1112}\u{119E}\u{11AB}글 \u{115F}\u{1161}\n",
    ),
    (
        "Vietnamese",
        "Latin",
        "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi.\n",
    ),
    (
        "decomposed",
        "Latin",
        "Cafe\u{301} Zu\u{308}rich a\u{328}\u{301} o\u{302}\u{323}\n",
    ),
    ("transcription", "Latin", "ˈfəʊ̯.nə.tɪ̈k t͡ʃ ɑ̃ː n̪̊\n"),
    (
        "emoji",
        "emoji",
        "👩\u{200D}🔬 ✅ ❤\u{FE0F} 🏳\u{FE0F}\u{200D}🌈 👍🏽 1\u{FE0F}\u{20E3} #\u{FE0F}\u{20E3} ☺\u{FE0E} 🇩🇪 🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F} 👨\u{200D}👩\u{200D}👧\u{200D}👦\n",
    ),
    (
        "Braille",
        "symbols",
        "⠓⠑⠇⠇⠕\u{2800}⠺⠕⠗⠇⠙ ─│┌┐ ▁▂▃▄▅ ░▒▓ |<▁>|\n",
    ),
];
