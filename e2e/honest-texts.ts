// Honest texts, about which the page must tell nothing. Data only.

/** Ordinary words in many languages and of many kinds. None of them may raise a warning, as a value or as prose. */
export const honestTexts: readonly { name: string; text: string }[] = [
  {
    name: "French",
    text: "Bonjour\u00A0! Voulez-vous rembourser 1\u202F250,50\u00A0€ à «\u00A0Müller\u00A0»\u00A0? L’été, 20\u00A0%\u00A0: oui.",
  },
  {
    name: "Persian",
    text: "می\u200Cخواهم ۱۲۵٬۰۰۰ ریال به حساب شرکت\u200Cها واریز کنم؛ لطفاً تأیید کنید.",
  },
  { name: "Sinhala", text: "ශ්\u200Dරී ලංකාව සඳහා රුපියල් 5,000 ක් ගෙවන්න." },
  { name: "Malayalam", text: "ഞാന്\u200D നാളെ പണം അയയ്ക്കും, അവന്\u200D സമ്മതിച്ചു." },
  {
    name: "Japanese",
    text: "請求書\u3000第１２号の金額は１，２５０円です。ＡＢＣ株式会社へ（株）振込。",
  },
  { name: "Chinese", text: "\u3000\u3000请向公司支付100元，账号：6222-0000，谢谢。OK，完成。" },
  { name: "Korean", text: "Google에서 환불 요청 3건을 처리해 주세요. 금액은 5,000원입니다." },
  { name: "Arabic", text: "ادفع ١٢٠٫٥٠ دينار إلى مُحَمَّدٌ بتاريخ 12/05/2026، شكرًا؟" },
  { name: "Hebrew with points", text: "שָׁלוֹם, נָא לְשַׁלֵּם ₪120.50 לְ־Acme (חשבונית 7), בGoogle\u200F." },
  { name: "Urdu", text: "براہ کرم ۵۰۰ روپے علی کو ادا کریں۔" },
  { name: "Hindi", text: "कृपया १,२५० रुपये राम के खाते में भेजें। क्\u200Dष धन्यवाद॥" },
  { name: "Bengali", text: "আমি ৪০০ টাকা পাঠাতে চাই, র\u200D্যাব অফিসে।" },
  { name: "Tamil", text: "தயவுசெய்து 500 ரூபாய் அனுப்பவும். நன்றி." },
  { name: "Thai", text: "กรุณาชำระเงิน ๑๒๐ บาท ที่นี่ น้ำ ให้กับบริษัท ABC" },
  { name: "Burmese", text: "ကျေးဇူးပြု၍ ၅၀၀ ကျပ် ပေးပါ။ မြွှေ့ မြန်မာ" },
  { name: "Khmer", text: "សូមបង់ប្រាក់\u200B៥០០\u200Bរៀល។" },
  { name: "Tibetan", text: "བོད་ཡིག་རྒྱུད་འཛིན།" },
  { name: "Vietnamese", text: "Vui lòng hoàn tiền 1.250.000 ₫ cho Nguyễn Văn Đức ở Đà Nẵng." },
  {
    name: "Vietnamese, decomposed",
    text: "Vui lòng hoàn tiền cho Nguyễn Văn Đức, Việt Nam.".normalize("NFD"),
  },
  {
    name: "Turkish",
    text: "Lütfen Iğdır’daki kapıcıya ısı parası olarak 250,00 ₺ öde: İstanbul, ışık.",
  },
  { name: "Azerbaijani", text: "Zəhmət olmasa, 100 manat ödəyin, qızıl ışıq." },
  { name: "Polish", text: "Proszę zapłacić 1 250,00 zł firmie Żółć i Łoś sp. z o.o." },
  {
    name: "German",
    text: "Bitte „Müller & Söhne“ 1.250,00 € überweisen – Straße 5a, Größe Ø 10 mm. Donau\u00ADdampf\u00ADschiff.",
  },
  {
    name: "Russian",
    text: "Оплатить счёт № 15 ООО «Ромашка», дом 5б, в 1С, а у нас сор и хор; IT-отдел, e-почта.",
  },
  { name: "Russian abbreviations", text: "в СССР" },
  { name: "a Russian licence plate", text: "а/м Х123ОР77" },
  { name: "Russian companies", text: "МТС и КАСКО оплачены, О123ОО77 тоже." },
  { name: "a Russian house number", text: "д. 12В" },
  { name: "a house number with a letter", text: "5А" },
  { name: "an amount in rupees", text: "₹ १२३" },
  { name: "Ukrainian", text: "Сплатити рахунок № 7 за обʼєкт у м. Київ, і все." },
  { name: "Serbian", text: "Плати 500 динара за оса и роса; Београд, Ниш." },
  { name: "Greek", text: "Πληρώστε 100 € στην Αθήνα, ο νόμος και η ώρα." },
  { name: "Georgian", text: "გთხოვთ გადაიხადოთ 100 ლარი, Googleში." },
  { name: "Armenian", text: "Խնդրում եմ վճարել 100 դրամ, Google-ում։" },
  { name: "Amharic", text: "እባክዎ 100 ብር ይክፈሉ፡ አመሰግናለሁ።" },
  { name: "Swahili", text: "Tafadhali lipa shilingi 5,000 kwa Juma ng’ombe." },
  { name: "Icelandic", text: "Greiðið 1.000 kr. til Þórðar, þakka þér, Ævar." },
  { name: "Hawaiian", text: "Hoʻokupu 5 i Hawaiʻi, ʻae." },
  {
    name: "special spaces",
    text: "Mr.\u00A0Smith paid 10\u00A0000\u00A0EUR on 5\u00A0May for 3\u2009kg, i.\u00A0e. 20\u202F°C – so\u200A—\u200Ayes.",
  },
  { name: "an amount in French", text: "1\u202F250\u202F000,00\u00A0€" },
  { name: "a name with two initials", text: "А.\u00A0С.\u00A0Пушкин" },
  { name: "Windows text", text: "First line\r\nSecond line\r\n\r\nThird\tcolumn\r\n" },
  { name: "a file with a byte order mark", text: "\uFEFFid;name\n1;Ann" },
  { name: "emoji", text: "Done 👨‍👩‍👧‍👦 ❤️ 1️⃣ 👍🏽 🏳️‍🌈 🇩🇪 ☎︎ ™️ ✅" },
  {
    name: "physics",
    text: "5 kΩ, 10kΩ, 3 μm, 5 µm, ΔT = 2 K, 2πr, 3σ, α = 0.05, E ≠ mc², 25 ℃, CO₂, 10 mℓ, x ∈ A∪B, ½, 1⁄2",
  },
  { name: "signs", text: "№ 5, §3, 20 °C, 100 %, ±5, 10×20, → next, “so” – and … © ® ™ º ª ﬁ" },
  {
    name: "accounts",
    text: "DE89 3704 0044 0532 0130 00, GB29NWBK60161331926819, BIC COBADEFFXXX, O2, O365, I-95, 10l, 2l/100 km",
  },
  {
    name: "identifiers",
    text: "550e8400-e29b-41d4-a716-446655440000 b1946ac92492d2347c6235b4d2611184 req_01JQ8O0I1l sha256:9f86d081 0x1F 0o17",
  },
  { name: "times", text: "2026-11-16T17:00:00.000Z, 10:30, 16/11/2026, 4:3, 1.2.3, v10.0.1" },
  {
    name: "mail and web",
    text: "ann.lee+tag@example.co.uk, https://example.com:8443/a/b?q=1&r=%20x#top, http://127.0.0.1:3000/, git@github.com:a/b.git",
  },
  {
    name: "connections",
    text: "postgres://app:secret@db.internal:5432/main?sslmode=require redis://:pw@cache:6379/0 file:///etc/hosts s3://bucket/key",
  },
  {
    name: "an honest foreign host",
    text: "Siehe https://bücher.example/ und info@müller.example, сайт пример.рф",
  },
  {
    name: "addresses at the ends of lines",
    text: "See https://example.com\nThanks\nhttps://example.org\n@ann please look\nAnn\thttps://example.com\tpaid",
  },
  {
    name: "shell",
    text: "rm -rf ./build && curl -s https://example.com/x | jq '.a[0]' > \"$HOME/out.json\"; echo 1|2",
  },
  { name: "Windows paths", text: "C:\\Users\\ann\\Documents\\file.txt and \\\\server\\share\\x" },
  {
    name: "SQL",
    text: "select id, amount from orders where status = 'OPEN' and amount > 100.00 -- all of them",
  },
  {
    name: "code",
    text: "for (let i = 0; i < 10; i += 1) { log(i, a[i] ?? 'none'); } // O(n)",
  },
];
