import iconv from 'iconv-lite'
import { describe, expect, it } from 'vitest'
import { readFile } from '../../../src/kinds/file-formats/read-file.ts'
import { decodeText } from '../../../src/tables/decode-text.ts'
import { outcome } from '../../support/import-outcomes.ts'
import { packageOf, workbook } from '../../support/workbooks.ts'

// Realistic files, written from the formats' descriptions and from reported problems. Each is imported, imported with named losses, or rejected
// with a reason.

const PROBLEM = /^!/

const text = (content: string): Uint8Array => Buffer.from(content)
const CHOICE = 'Question,Option 1,Option 2,Option 3,Correct Answer'
const NONE = (right: string) => `The right answer “${right}” is not an option.`
const TWICE = (right: string) => `The right answer “${right}” fits more than one option. Write the letter of the right one.`
const LACKS =
  'It has no options or no right answer, unlike other rows. If that is right, add a column “kind”, and write “text” or “short text” there.'
const STRAY = 'A quotation mark in this line stands alone, so it is unclear where its cells end.'
const manifest = (kind: string) =>
  packageOf({
    'imsmanifest.xml': `<manifest xmlns="http://www.imsglobal.org/xsd/imscp_v1p1"><resource type="${kind}" href="a.xml"/></manifest>`,
    'a.xml': '<x/>',
  })

describe('the format of a file', () => {
  it.each<[string, Uint8Array, string[]]>([
    ['an empty file', text(''), ['!empty']],
    ['blanks', text(' \n\n '), ['!empty']],
    [
      'an old Excel file',
      Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('Workbook', 'utf16le')]),
      ['!oldExcel'],
    ],
    [
      'an Excel file of the nineties',
      Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('Book', 'utf16le')]),
      ['!oldExcel'],
    ],
    ['an Excel 4 sheet', Buffer.from('0904060000001000', 'hex'), ['!oldExcel']],
    [
      'an old Word file',
      Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('WordDocument', 'utf16le')]),
      ['!word'],
    ],
    [
      'a protected workbook',
      Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('EncryptedPackage', 'utf16le')]),
      ['!encrypted'],
    ],
    ['an unknown container', Buffer.from('d0cf11e0a1b11ae1', 'hex'), ['!otherFormat']],
    ['a binary workbook', packageOf({ 'xl/workbook.bin': 'x' }), ['!binaryExcel']],
    [
      'an OpenDocument sheet',
      packageOf({ mimetype: 'application/vnd.oasis.opendocument.spreadsheet', 'content.xml': '<x/>' }),
      ['!ods'],
    ],
    [
      'an OpenDocument text',
      packageOf({ mimetype: 'application/vnd.oasis.opendocument.text', 'content.xml': '<x/>' }),
      ['!word'],
    ],
    ['a flat OpenDocument sheet', text('<?xml version="1.0"?><office:document xmlns:office="urn:oasis">'), ['!ods']],
    ['a Word file', packageOf({ '[Content_Types].xml': '<x/>', 'word/document.xml': '<x/>' }), ['!word']],
    ['a rich text', text('{\\rtf1\\ansi Question {\\b bold}}'), ['!word']],
    ['a PDF', text('%PDF-1.7\n%âãÏÓ\n'), ['!pdf']],
    ['a PDF called .csv with a line before', text('\n%PDF-1.4'), ['!pdf']],
    ['a Canvas package', manifest('imsqti_xmlv1p2'), ['!canvas']],
    ['a Common Cartridge', manifest('imsqti_xmlv1p2/imscc_xmlv1p1/assessment'), ['!canvas']],
    ['a QTI 1.2 file', text('<?xml version="1.0"?>\n<questestinterop xmlns="x"><assessment/></questestinterop>'), ['!canvas']],
    ['a Canvas package without a manifest', packageOf({ 'g1/assessment_meta.xml': '<x/>' }), ['!canvas']],
    ['a QTI 3.0 package', manifest('imsqti_item_xmlv3p0'), ['!qti3']],
    ['a QTI 3.0 item', text('<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0"/>'), ['!qti3']],
    ['a package of lessons', manifest('webcontent'), ['!otherFormat']],
    ['a package of pictures', packageOf({ 'a.png': 'x' }), ['!otherFormat']],
    ['a web page', text('<!DOCTYPE html><html><body><table></table></body></html>'), ['!html']],
    [
      'a web page that Excel saved as .xls',
      text('<html xmlns:x="urn:schemas-microsoft-com:office:excel"><table>'),
      ['!oldExcel'],
    ],
    [
      'an XML sheet of Excel 2003',
      text('<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet">'),
      ['!oldExcel'],
    ],
    ['another XML', text('<?xml version="1.0"?><feed/>'), ['!otherFormat']],
    ['XML with a DOCTYPE', text('<?xml version="1.0"?><!DOCTYPE quiz [<!ENTITY a "b">]><quiz/>'), ['!doctype']],
    ['a picture', Buffer.from('89504e470d0a1a0a', 'hex'), ['!otherFormat']],
    ['a gzip', Buffer.from('1f8b0800', 'hex'), ['!otherFormat']],
    ['a ZIP that is cut off', Buffer.from('504b0304', 'hex'), ['!notSheet']],
    ['a table below 2,000 empty lines', text(`${'\n'.repeat(2_000)}Question;A;B;Key\n2+2?;4;5;A`), ['2+2?: *4|5']],
    ['Aiken with a line separator behind the answer', text('2+2?\nA. 4\nB. 5\nANSWER: A\u2028'), ['2+2?: *4|5']],
    ['a letter', text('Dear Sir or Madam,\nplease find attached\nour questions.'), ['!noText']],
    ['a list of texts', text('What is 2+2?\nWhat is 3+3?'), ['!otherFormat']],
    ['GIFT', text('::Q::2+2?{=4 ~5}'), ['2+2?: *4|5']],
    [
      'GIFT called .csv, with commas',
      text('Who, do you think, won?{=Ann ~Ben, or so}'),
      ['Who, do you think, won?: *Ann|Ben, or so'],
    ],
    ['Aiken', text('What is 2+2?\nA. 3\nB. 4\nANSWER: B\n'), ['What is 2+2?: 3|*4']],
    ['a sheet with braces', text('question,answer\n"What does f(){} return?",nothing'), ['What does f(){} return?: =nothing']],
    ['text as the only heading', text('text\nTell us about you.'), ['Tell us about you.: text']],
    ['tabs', text('Question\tOption 1\tOption 2\tCorrect\n1+1?\tone\ttwo\t2'), ['1+1?: one|*two']],
    ['vertical bars', text('Question|A|B|Key\n1+1?|one|two|B'), ['1+1?: one|*two']],
    ['another delimiter by sep=', text('sep=^\nQuestion^A^B^Key\n1+1?^one^two^B'), ['1+1?: one|*two']],
  ])('recognizes %s', (_, bytes, expected) => {
    expect(outcome(bytes)).toEqual(expected)
  })
})

describe('right answers', () => {
  it.each<[string, string, string[]]>([
    ['a number beside numbers that only fits as number', `${CHOICE}\n2+2?,3,4,5,2`, ['2+2?: 3|*4|5']],
    ['a number that is text and number', `${CHOICE}\n1+1?,2,3,4,2`, [`2: ${TWICE('2')}`]],
    ['a number that is text and number of the same option', `${CHOICE}\n1+1?,1,2,3,2`, ['1+1?: 1|*2|3']],
    ['a number that only fits as text', `${CHOICE}\n4+5?,7,8,9,9`, ['4+5?: 7|8|*9']],
    [
      'a mistyped text where other rows have texts',
      `${CHOICE}\nPeru?,Lima,Quito,Rome,Lima\n3+4?,6,7,8,3`,
      [
        'Peru?: *Lima|Quito|Rome',
        '3: The right answer “3” is the number of an option, but other rows name the text of an option. Write a letter.',
      ],
    ],
    ['no option', `${CHOICE}\n2+2?,3,4,5,6`, [`2: ${NONE('6')}`]],
    ['texts under Answer 1', 'Q,Answer 1,Answer 2,Correct\nCapital of Peru?,Lima,Quito,Lima', ['Capital of Peru?: *Lima|Quito']],
    ['letters under A to D', 'Question,A,B,C,D,Key\nPeru?,Rome,Lima,Oslo,Bern,b', ['Peru?: Rome|*Lima|Oslo|Bern']],
    ['numbers under A to D beside texts', 'Question,A,B,C,Key\nPeru?,Rome,Lima,Oslo,2', ['Peru?: Rome|*Lima|Oslo']],
    ['numbers under A to D beside numbers', 'Question,A,B,C,Key\n2+1?,2,4,5,3', [`2: ${NONE('3')}`]],
    ['a letter with a parenthesis', 'Question,A,B,Key\nPeru?,Rome,Lima,B)', ['Peru?: Rome|*Lima']],
    ['a letter in parentheses', 'Question,A,B,Key\nPeru?,Rome,Lima,(b)', ['Peru?: Rome|*Lima']],
    ['a letter with a point', 'Question,A,B,Key\nPeru?,Rome,Lima,B.', ['Peru?: Rome|*Lima']],
    ['the name of a column', `${CHOICE}\nPeru?,Rome,Lima,Oslo,Option 2`, ['Peru?: Rome|*Lima|Oslo']],
    ['several with semicolons', `${CHOICE}\nPrimes?,two,three,four,1;2`, ['Primes?: *two|*three|four several']],
    ['several with commas', `${CHOICE}\nPrimes?,two,three,four,"1,2"`, ['Primes?: *two|*three|four several']],
    ['several with and', `${CHOICE}\nPrimes?,two,three,four,A and B`, ['Primes?: *two|*three|four several']],
    ['several with und', 'Frage;A;B;C;Lösung\nPrim?;zwei;drei;vier;A und B', ['Prim?: *zwei|*drei|vier several']],
    ['several with line breaks', `${CHOICE}\nPrimes?,two,three,four,"A\nB"`, ['Primes?: *two|*three|four several']],
    ['several texts', `${CHOICE}\nPrimes?,two,three,four,two; three`, ['Primes?: *two|*three|four several']],
    ['a text with and', `${CHOICE}\nWho?,salt and pepper,salt,pepper,salt and pepper`, ['Who?: *salt and pepper|salt|pepper']],
    ['a text with a comma', `${CHOICE}\nWho?,"Ann, Ben",Cy,Di,"Ann, Ben"`, ['Who?: *Ann, Ben|Cy|Di']],
    ['several numbers that only fit as numbers', `${CHOICE}\nPrimes?,2,3,4,"1,2"`, ['Primes?: *2|*3|4 several']],
    ['several numbers that only fit as texts', `${CHOICE}\nPrimes?,2,3,4,"2;4"`, ['Primes?: *2|3|*4 several']],
    ['several numbers that fit in both ways', `${CHOICE}\nPrimes?,2,3,1,"1;2"`, [`2: ${TWICE('1')}`]],
    ['one wrong of several', `${CHOICE}\nPrimes?,two,three,four,A;Z`, [`2: ${NONE('Z')}`]],
    ['a text in other case', `${CHOICE}\nPeru?,lima,quito,oslo,LIMA`, ['Peru?: *lima|quito|oslo']],
    ['a text with other blanks', `${CHOICE}\nPeru?,New  York,quito,oslo,New York`, ['Peru?: *New  York|quito|oslo']],
    ['two equal options', `${CHOICE}\nPeru?,Lima,Lima,oslo,Lima`, [`2: ${TWICE('Lima')}`]],
    ['no right answer', `${CHOICE}\nPeru?,Lima,Rome,oslo,`, ['2: It has no right answer.']],
    ['one option', `${CHOICE}\nPeru?,Lima,,,A`, ['2: It has fewer than two options.']],
    [
      'no options among rows with options',
      `${CHOICE}\nPeru?,Lima,Rome,,A\nChile?,,,,Santiago`,
      ['Peru?: *Lima|Rome', `3: ${LACKS}`],
    ],
    ['a heading among the rows', `${CHOICE}\nPart 1,,,,\nPeru?,Lima,Rome,,A`, [`2: ${LACKS}`, 'Peru?: *Lima|Rome']],
    ['counting from 0', `${CHOICE}\nPeru?,Lima,Rome,Oslo,0\nChile?,Lima,Santiago,Oslo,1`, [`2: ${NONE('0')}`, `3: ${NONE('1')}`]],
    [
      'Kahoot’s layout',
      'Question - max 120 characters,Answer 1 - max 75 characters,Answer 2 - max 75 characters,Answer 3 - max 75 characters,Answer 4 - max 75 characters,"Time limit (sec) – 5, 10, 20, 30, 60, 90, 120, or 240 secs",Correct answer(s) - choose at least one\nPeru?,Lima,Rome,Oslo,Bern,20,1\nPrimes?,two,three,four,six,20,"1,2"',
      ['Peru?: *Lima|Rome|Oslo|Bern', 'Primes?: *two|*three|four|six several'],
    ],
    [
      'Quizizz’s layout',
      'Question Text,Question Type,Option 1,Option 2,Option 3,Option 4,Option 5,Correct Answer,Time in seconds,Image Link,Answer explanation\nPeru?,Multiple Choice,Lima,Rome,,,,1,20,,\nPrimes?,Checkbox,two,three,four,,,"1,2",20,,\nCapital of Chile?,Fill-in-the-Blank,Santiago,santiago de chile,,,,,20,,\nTell.,Open-Ended,,,,,,,60,,\nVote?,Poll,a,b,,,,,20,,',
      [
        'Peru?: *Lima|Rome',
        'Primes?: *two|*three|four several',
        'Capital of Chile?: =Santiago|=santiago de chile',
        'Tell.: text',
        '6: There is no kind “Poll”.',
      ],
    ],
    [
      'Moodle’s CSV layout',
      'questionname,questiontext,A,B,C,D,Answer 1,Answer 2\nQ1,Peru?,Rome,Lima,Oslo,Bern,B,\nQ2,Primes?,two,three,four,six,A,B',
      ['Peru?: Rome|*Lima|Oslo|Bern', 'Primes?: *two|*three|four|six several'],
    ],
    [
      'Gimkit’s layout',
      'Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2 (Optional),Incorrect Answer 3 (Optional)\nPeru?,Lima,Rome,Oslo,',
      ['Peru?: *Lima|Rome|Oslo'],
    ],
    [
      'Blooket’s layout',
      'Question #,Question Text,Answer 1,Answer 2,Answer 3,Answer 4,Time Limit (sec),Correct Answer(s)\n1,Peru?,Lima,Rome,,,20,1\n2,2+2?,4,5,,,20,1',
      ['Peru?: *Lima|Rome', '2+2?: *4|5'],
    ],
    [
      'a Google Forms layout',
      'Question Title,Question Type,Option 1,Option 2,Correct Answer,Points\nPeru?,Multiple choice,Lima,Rome,Lima,2\nWho?,Short answer,,,Ann,1\nTell.,Paragraph,,,,1',
      ['Peru?: *Lima|Rome (2 points)', 'Who?: =Ann (1 points)', 'Tell.: text (1 points)'],
    ],
    [
      'options in one column',
      'Question,Options,Answer\nPeru?,Lima;Rome;Oslo,Rome\nChile?,"Lima\nSantiago",B',
      ['Peru?: Lima|*Rome|Oslo', 'Chile?: Lima|*Santiago'],
    ],
    ['German headings', 'Frage;Antwort 1;Antwort 2;Richtige Antwort;Punkte\nPeru?;Lima;Rom;1;2', ['Peru?: *Lima|Rom (2 points)']],
    ['French headings', 'Question;Réponse A;Réponse B;Bonne réponse\nPérou ?;Lima;Rome;A', ['Pérou ?: *Lima|Rome']],
    ['Spanish headings', 'Pregunta;Opción 1;Opción 2;Respuesta correcta\n¿Perú?;Lima;Roma;Lima', ['¿Perú?: *Lima|Roma']],
    ['Portuguese headings', 'Pergunta;Alternativa A;Alternativa B;Gabarito\nPeru?;Lima;Roma;A', ['Peru?: *Lima|Roma']],
    [
      'true and false without options',
      'Question,Answer\nIs it?,TRUE\nWas it?,false',
      ['Is it?: *True|False', 'Was it?: True|*False'],
    ],
    ['WAHR', 'Frage;Typ;Lösung\nStimmt es?;Wahr/Falsch;WAHR', ['Stimmt es?: *True|False']],
    ['VRAI', 'Question;Type;Réponse\nEst-ce vrai ?;Vrai/Faux;FAUX', ['Est-ce vrai ?: True|*False']],
    ['Y', 'Question,Type,Answer\nIs it?,Yes/No,Y', ['Is it?: *True|False']],
    ['1', 'Question,Type,Answer\nIs it?,True/False,1', ['Is it?: *True|False']],
    ['0', 'Question,Type,Answer\nIs it?,True/False,0', ['Is it?: True|*False']],
    [
      'a truth value beside options in German',
      'Frage;Antwort A;Antwort B;Lösung\nStimmt es?;Falsch;Wahr;TRUE',
      ['Stimmt es?: Falsch|*Wahr'],
    ],
    ['1 beside options true and false', 'Question,Option 1,Option 2,Correct\nIs it?,False,True,1', [`2: ${TWICE('1')}`]],
    ['decimal commas', 'Frage;Typ;Lösung;Punkte\nPi?;Zahl;3,14;1,0', ['Pi?: #3.14 (1 points)']],
    [
      'a comma that may part thousands',
      'Question;Type;Answer\nHow many?;number;"1,234"',
      ['2: The right answer “1,234” can be read in two ways. Write 3.14, 3.14 ± 0.01, or 3..4.'],
    ],
    [
      'a point that may part thousands',
      'Frage;Typ;Lösung\nPi?;Zahl;3,14\nWie viele?;Zahl;1.234',
      ['Pi?: #3.14', '3: The right answer “1.234” can be read in two ways. Write 3.14, 3.14 ± 0.01, or 3..4.'],
    ],
    ['groups of thousands', 'Question;Type;Answer\nHow many?;number;1,234,567', ['How many?: #1234567']],
    ['both signs', 'Question;Type;Answer\nHow many?;number;1.234,5', ['How many?: #1234.5']],
    ['points that are no number', 'Question,Answer,Points\nWho?,Ann,hard', ['2: The points “hard” are not a number.']],
    ['negative points', 'Question,Answer,Points\nWho?,Ann,-1', ['2: The points “-1” are not a number.']],
    [
      'a heading and a kind named like a property of objects',
      'Question,Type,constructor\nWho?,constructor,x',
      ['2: There is no kind “constructor”.'],
    ],
    [
      'a row of totals',
      'Question,A,B,Key,Points\nPeru?,Lima,Rome,A,2\nTotal,,,,2',
      ['Peru?: *Lima|Rome (2 points)', '3: It looks like a row of totals.'],
    ],
    [
      'several for a single choice',
      'Question,Type,A,B,C,Key\nPeru?,Single choice,x,y,z,A;B',
      ['2: It is a single choice, and has several right answers.'],
    ],
    ['two columns with one meaning', 'Question,Prompt,A,B,Key\nPeru?,Say,x,y,A', ['Peru?: *x|y']],
  ])('%s', (_, sheet, expected) => {
    expect(outcome(text(sheet))).toEqual(expected)
  })
})

describe('CSV as people write it', () => {
  it.each<[string, string, string[]]>([
    ['sep=', 'sep=;\nquestion;answer\nWho?;Ann', ['Who?: =Ann']],
    ['sep= with a mark and CRLF', '\ufeffsep=;\r\nquestion;answer\r\nWho?;Ann\r\n', ['Who?: =Ann']],
    ['lines that end in CR', 'question,answer\rWho?,Ann\rWhere?,Rome', ['Who?: =Ann', 'Where?: =Rome']],
    ['headings in the second row', 'Quiz of spring\nquestion,answer\nWho?,Ann', ['Who?: =Ann']],
    ['headings in the fourth row', 'Quiz,,\nBy Ann,,\n,,\nquestion,answer,points\nWho?,Ann,2', ['Who?: =Ann (2 points)']],
    ['empty lines', 'question,answer\n\nWho?,Ann\n,,\n\nWhere?,Rome\n', ['Who?: =Ann', 'Where?: =Rome']],
    ['a quoted line break', 'question,answer\n"Who\nis it?",Ann\nWhere?,Rome', ['Who\nis it?: =Ann', 'Where?: =Rome']],
    ['doubled quotes', 'question,answer\n"Who is ""it""?",Ann', ['Who is "it"?: =Ann']],
    [
      'a quote within a cell',
      'question,answer\nA 5" screen?,yes it is\nWhere?,Rome',
      ['A 5" screen?: =yes it is', 'Where?: =Rome'],
    ],
    ['a stray quote', 'question,answer\n"Who" is it?,Ann\nWhere?,Rome', [`2: ${STRAY}`, 'Where?: =Rome']],
    ['a quote that never closes', 'question,answer\n"Who is it?,Ann\nWhere?,Rome', [`2: ${STRAY}`, 'Where?: =Rome']],
    [
      'a stray quote with lines that belong to it',
      'question,answer,points\n"Who "is" it?\nWhere?,Rome",2\nWhen?,now,1',
      [`2: ${STRAY}`, `3: ${STRAY}`, 'When?: =now (1 points)'],
    ],
    ['blanks before quotes', 'question, answer\n"Who?", "Ann, Ben"', ['Who?: =Ann, Ben']],
    ['shorter rows', 'question,answer,points\nWho?,Ann', ['Who?: =Ann']],
    ['longer rows', 'question,answer\nWho?,Ann,note', ['Who?: =Ann']],
    ['NUL characters', 'question,answer\nWho\0?,Ann', ['Who?: =Ann']],
    [
      'commas in texts of a file with semicolons',
      'question;answer\nWho, then?;Ann\nWhere, then?;Rome, Oslo',
      ['Who, then?: =Ann', 'Where, then?: =Rome, Oslo'],
    ],
    ['unused columns', 'question,difficulty,answer\nWho?,hard,Ann', ['Who?: =Ann']],
  ])('%s', (_, sheet, expected) => {
    expect(outcome(text(sheet))).toEqual(expected)
  })
})

describe('text encodings', () => {
  const sheet = (question: string) => `question,answer\n${question},x1`
  it.each([
    ['utf-8', 'Zażółć gęślą jaźń'],
    ['windows-1250', 'Zażółć'],
    ['windows-1250', 'Zażółć gęślą jaźń'],
    ['windows-1250', 'Příliš žluťoučký kůň'],
    ['windows-1251', 'Привет'],
    ['windows-1251', 'Столица Франции'],
    ['windows-1252', 'Où est l’œuvre – ici ?'],
    ['windows-1252', 'Größe in Müllers Straße'],
    ['windows-1252', '¿Cuál es la montaña más alta?'],
    ['windows-1254', 'Türkiye’nin başkenti neresidir ışık'],
    ['iso-8859-2', 'Zażółć gęślą jaźń'],
    ['iso-8859-15', 'Größe für Mädchen'],
    ['koi8-r', 'Столица Франции'],
    ['shift_jis', '日本'],
    ['shift_jis', '日本の首都はどこですか'],
    ['gbk', '中国的首都是哪里'],
    ['big5', '台灣的首都在哪裡'],
    ['euc-kr', '한국의 수도는 어디입니까'],
    ['utf16-le', 'Zażółć'],
    ['utf16-be', 'Zażółć'],
  ])('reads %s: %s', (encoding, question) => {
    expect(outcome(iconv.encode(sheet(question), encoding))).toEqual([`${question}: =x1`])
  })

  it.each([
    ['utf-8', 'Zażółć'],
    ['utf16-le', 'Zażółć'],
    ['utf16-be', 'Привет'],
  ])('reads %s with a byte order mark', (encoding, question) => {
    expect(outcome(iconv.encode(sheet(question), encoding, { addBOM: true }))).toEqual([`${question}: =x1`])
  })

  it.each([
    ['windows-1250', 'Węgier; Győr, Őrség'],
    ['windows-1250', 'Jan Žák; Łukasz Wójcik; Őri Béla'],
    ['windows-1250', 'Kovács Ágnes; Nagy Őrs; Szűcs'],
    ['windows-1250', 'Đorđe Čović; Ştefan Ţară'],
    ['iso-8859-2', 'Łódź; Škoda; Győr'],
    ['windows-1252', 'São Tomé; João; Ações; Müller; Øre'],
    ['windows-1252', '£5 for 3 m² × ½; café'],
    ['windows-1257', 'Žąsis šviečia ėjo'],
    ['windows-1253', 'Καλημέρα κόσμε'],
    ['windows-1255', 'שלום עולם'],
    ['windows-1256', 'مرحبا بالعالم'],
  ])('guesses %s from the words of several languages, or from other letters: %s', (encoding, names) => {
    expect(decodeText(iconv.encode(names, encoding)).text).toBe(names)
  })

  it('rejects text that fits two encodings until somebody chooses one', () => {
    expect(outcome(iconv.encode(sheet('Gyõr'), 'windows-1252'))).toEqual(['!doubtfulEncoding'])
    expect(outcome(iconv.encode(sheet('Gyõr'), 'windows-1252'), { encoding: 'windows-1252' })).toEqual(['Gyõr: =x1'])
  })

  it('reads the encoding that a person chose', () => {
    expect(outcome(iconv.encode(sheet('Őrség'), 'windows-1250'), { encoding: 'windows-1250' })).toEqual(['Őrség: =x1'])
    expect(outcome(iconv.encode(sheet('Őrség'), 'windows-1250'), { encoding: 'utf-8' })).toEqual(['!wrongEncoding'])
  })

  it('rejects damaged UTF-8', () => {
    const whole = Buffer.from('question,answer\nZażółć,x\nGrażyna,y')
    expect(outcome(Buffer.concat([whole, Buffer.from([0xff])]))).toEqual(['!damagedText'])
  })
})

describe('cells of a workbook', () => {
  const FORMATS = [
    'yyyy-mm-dd',
    '0%',
    'hh:mm',
    '#,##0.00',
    '"$"#,##0.00',
    '14',
    '[$-407]d. mmmm yyyy',
    '0.00E+00',
    '[h]:mm',
    '@',
    ';;;',
  ]
  const HEAD = ['Question', 'A', 'B', 'Key']
  const shown = (cell: Parameters<typeof workbook>[0][number][number], more: Parameters<typeof workbook>[1] = {}) =>
    workbook([HEAD, ['Which?', cell, 'other', 'A']], { formats: FORMATS, ...more })
  it.each<[string, Uint8Array, string[]]>([
    ['a date', shown({ s: 1, v: '45292' }), ['Which?: *2024-01-01|other']],
    ['a percentage', shown({ s: 2, v: '0.5' }), ['Which?: *50%|other']],
    ['a time', shown({ s: 3, v: '0.75' }), ['Which?: *18:00|other']],
    ['groups of thousands', shown({ s: 4, v: '1234.5' }), ['Which?: *1,234.50|other']],
    ['a currency', shown({ s: 5, v: '3' }), ['Which?: *$3.00|other']],
    ['a date in the reader’s format', shown({ s: 6, v: '45292' }), ['Which?: *2024-01-01|other']],
    ['a date in German', shown({ s: 7, v: '45292' }), ['Which?: *1. Januar 2024|other']],
    ['a scientific number', shown({ s: 8, v: '12345' }), ['Which?: *1.23E+04|other']],
    ['a duration', shown({ s: 9, v: '1.5' }), ['Which?: *36:00|other']],
    ['a number as text', shown({ s: 10, v: '7' }), ['Which?: *7|other']],
    ['a hidden value', shown({ s: 11, v: '7' }), ['Which?: *7|other']],
    ['a date from 1904 on', shown({ s: 1, v: '43830' }, { startsIn1904: true }), ['Which?: *2024-01-01|other']],
    ['a float', shown({ v: '0.30000000000000004' }), ['Which?: *0.3|other']],
    ['a long number', shown({ v: '123456789012' }), ['Which?: *123456789012|other']],
    ['true', shown({ t: 'b', v: '1' }), ['Which?: *TRUE|other']],
    ['a formula’s text', shown({ t: 'str', f: 'A1&amp;B1', v: 'Lima' }), ['Which?: *Lima|other']],
    ['a formula’s number', shown({ f: '1+1', v: '2' }), ['Which?: *2|other']],
    [
      'a formula without a result',
      shown({ f: '1+1' }),
      ['2: Cell B2 has a formula without a stored result. Open the file in your spreadsheet program, and save it again.'],
    ],
    ['an error', shown({ t: 'e', v: '#REF!' }), ['2: Cell B2 shows the error #REF!.']],
    ['an ISO date', shown({ t: 'd', v: '2024-01-01T00:00:00' }), ['Which?: *2024-01-01|other']],
    [
      'a right answer that is a formatted number',
      workbook([HEAD, ['Half?', { s: 2, v: '0.5' }, 'all', { v: '0.5' }]], { formats: FORMATS }),
      ['Half?: *50%|all'],
    ],
    [
      'a numeric answer that is shown rounded',
      workbook(
        [
          ['Question', 'Type', 'Answer'],
          ['Pi?', 'number', { s: 4, v: '3.14159' }],
        ],
        { formats: FORMATS },
      ),
      ['Pi?: #3.14159'],
    ],
    [
      'points that are shown with decimals',
      workbook(
        [
          ['Question', 'Answer', 'Points'],
          ['Who?', 'Ann', { s: 4, v: '2' }],
        ],
        { formats: FORMATS },
      ),
      ['Who?: =Ann (2 points)'],
    ],
    [
      'an error in an unused column',
      workbook([
        ['Question', 'Answer', 'Note'],
        ['Who?', 'Ann', { t: 'e', v: '#N/A' }],
      ]),
      ['Who?: =Ann'],
    ],
    ['a hidden row', workbook([HEAD, ['One?', 'x', 'y', 'A'], ['Two?', 'x', 'y', 'A']], { hiddenRows: [2] }), ['Two?: *x|y']],
    ['a hidden column', workbook([HEAD, ['One?', 'x', 'y', 'B']], { hiddenColumns: [4] }), ['One?: x|*y']],
    [
      'a merged category',
      workbook(
        [
          ['Question', 'Answer', 'Category'],
          ['Who?', 'Ann', 'People'],
          ['Where?', 'Rome', ''],
        ],
        { merged: ['C2:C3'] },
      ),
      ['Who?: =Ann (People)', 'Where?: =Rome (People)'],
    ],
    [
      'a merged question',
      workbook([HEAD, ['One?', 'x', 'y', 'A'], ['', 'z', 'w', 'A']], { merged: ['A2:A3'] }),
      ['One?: *x|y', '3: Its text is merged with that of the row above.'],
    ],
    [
      'a title above the headings',
      workbook([['Quiz of spring'], HEAD, ['One?', 'x', 'y', 'B']], { merged: ['A1:D1'] }),
      ['One?: x|*y'],
    ],
    [
      'a hidden first sheet',
      workbook([HEAD, ['One?', 'x', 'y', 'B']], { sheets: [{ name: 'Old', state: 'hidden' }, { name: 'New' }] }),
      ['One?: x|*y'],
    ],
    [
      'a template of a questionnaire with the numbers 1 and 2 as cells',
      workbook([
        ['Question', 'Option 1', 'Option 2', 'Correct'],
        ['2+2?', 3, 4, 2],
      ]),
      ['2+2?: 3|*4'],
    ],
    ['no headings', workbook([['a'], ['b']]), ['!noText']],
    [
      'a sheet with a DOCTYPE',
      packageOf({ 'xl/worksheets/sheet1.xml': '<!DOCTYPE x [<!ENTITY a "aaaa">]><worksheet/>' }),
      ['!notSheet'],
    ],
    [
      'a package that has its sheet twice',
      Buffer.concat(Array(2).fill(packageOf({ 'xl/worksheets/sheet1.xml': '<worksheet><sheetData/></worksheet>' }))),
      ['!notSheet'],
    ],
  ])('%s', (_, bytes, expected) => {
    expect(outcome(bytes)).toEqual(expected)
  })

  it('names hidden rows, hidden columns, and merged cells', () => {
    const bytes = workbook([HEAD, ['One?', 'x', 'y', 'A'], ['Two?', 'x', 'y', 'A']], {
      hiddenRows: [2],
      hiddenColumns: [2],
      merged: ['D2:D3'],
    })
    expect(readFile(bytes, 100).facts.notes).toEqual([
      '1 hidden row is left out. To take them, show them in your spreadsheet program, and save the file again.',
      'Hidden columns are read too: B.',
      'A merged cell counts for each of its rows.',
    ])
  })

  it('reads the sheet that a person chose', () => {
    const bytes = workbook([HEAD, ['One?', 'x', 'y', 'A']], { sheets: [{ name: 'First' }, { name: 'Second' }] })
    expect(readFile(bytes, 100, { sheet: 'Second' }).facts).toMatchObject({ sheet: 'Second', sheets: ['First', 'Second'] })
  })
})

describe('GIFT as Moodle describes it', () => {
  it.each<[string, string, string[]]>([
    ['a number without a digit before the point', '::x::2 {#.5}', ['2: #0.5']],
    ['a number with a plus', 'Q{#+5:0.1}', ['Q: #5±0.1']],
    ['an exponent', 'Q{#1e4}', ['Q: #10000']],
    ['a negative exponent', 'Q{#1.5e-3}', ['Q: #0.0015']],
    ['formats of answers', 'Q{=[plain]yes ~[html]<b>no</b>}', ['Q: *yes|no (Formatting of answers is left out.)']],
    ['an empty option', 'Q{=%0%nearly#close ~#}', ['1: An option has no text.']],
    [
      'a share of nothing in a short text',
      'Q{=Ann =%0%Ben#no}',
      ['Q: =Ann (Feedback is not imported.; Answers without points are left out.)'],
    ],
    ['a share of a half', 'Q{=Ann =%50%Anne}', ['Q: =Ann|=Anne 50%']],
    ['a number without points', 'Q{#=5:0 =%0%9:0}', ['Q: #5±0 (Answers without points are left out.)']],
    ['a number without points within another', 'Q{#=5:2 =%0%5:0}', ['1: A number with fewer points lies within another answer.']],
    ['ids and tags', '// [id:q1] [tag:easy]\nQ{=a ~b}', ['Q: *a|b (Tags and ids of Moodle are not imported.)']],
    ['HTML', '[html]<p>What is <b>bold</b> &amp; 2 &lt; 3?</p>{T}', ['What is **bold** & 2 \\< 3?: *True|False']],
    ['HTML without formatting', '[html]<p>One</p><p>Two &eacute;</p>{T}', ['One\nTwo é: *True|False']],
    [
      'a picture',
      '[html]<img src\\="a.png" alt\\="A map"> Where?{=here =there}',
      ['A map Where?: =here|=there (A picture is left out.)'],
    ],
    ['tags without a format', 'Is <i>it</i>?{F}', ['Is *it*?: True|*False']],
    ['a tag named like a property of objects', '[html]<constructor>Is it?</constructor>{T}', ['Is it?: *True|False']],
    ['signs that are no tags', 'Is 1 < 2 and 3 > 2?{T}', ['Is 1 < 2 and 3 > 2?: *True|False']],
    ['escaped signs', 'Is 1 \\= 1 \\{x\\} \\: \\# \\~ ?{T}', ['Is 1 = 1 {x} : # ~ ?: *True|False']],
    ['feedback of true and false', 'Is it?{TRUE#wrong#right}', ['Is it?: *True|False (Feedback is not imported.)']],
    ['general feedback', 'Is it?{T####Because.}', ['Is it?: *True|False (General feedback is not imported.)']],
    ['an essay', 'Tell.{}', ['Tell.: text']],
    ['a description', 'Read this.', ['!otherFormat']],
    ['pairs', 'Match{=a -> 1 =b -> 2}', ['Match: a->1|b->2']],
    ['a category', '$CATEGORY: $course$/top/Maths/Sets\n\nQ{T}', ['Q: *True|False (Maths / Sets)']],
    ['a missing word', 'The {=cat ~dog} sat.', ['The _____ sat.: *cat|dog']],
    ['several right options', 'Q{~%50%a ~%50%b ~%-100%c}', ['Q: *a|*b|c several']],
    ['a range', 'Q{#1..5}', ['Q: #1..5']],
    ['a range of decimals', 'Q{#.5..1.5}', ['Q: #0.5..1.5']],
    ['two colons', 'Q{#1:2:3}', ['1: “1:2:3” is not a number.']],
    ['a word as a number', 'Q{#many}', ['1: “many” is not a number.']],
  ])('%s', (_, gift, expected) => {
    expect(outcome(text(gift)).filter((line) => !PROBLEM.test(line) || expected.includes(line))).toEqual(expected)
  })
})

describe('Aiken', () => {
  it.each<[string, string, string[]]>([
    ['points after letters', 'Q?\nA. x\nB. y\nANSWER: B', ['Q?: x|*y']],
    ['parentheses after letters', 'Q?\nA) x\nB) y\nANSWER: A', ['Q?: *x|y']],
    ['two questions without a line between', 'Q?\nA. x\nB. y\nANSWER: B\nR?\nA. x\nB. y\nANSWER: A', ['Q?: x|*y', 'R?: *x|y']],
    ['a missing answer', 'Q?\nA. x\nB. y\n\nR?\nA. x\nB. y\nANSWER: A', ['1: It has no line ANSWER.', 'R?: *x|y']],
    ['an answer that is no option', 'Q?\nA. x\nB. y\nANSWER: C', ['1: The right answer “C” is not an option.']],
    ['several answers', 'Q?\nA. x\nB. y\nANSWER: A, B', ['1: The right answer “A, B” is not an option.']],
    ['letters with a gap', 'Q?\nA. x\nC. y\nANSWER: A', ['1: Its options are not A, B, C, and so on.']],
    ['one option', 'Q?\nA. x\nANSWER: A', ['1: It has fewer than two options.']],
  ])('%s', (_, aiken, expected) => {
    expect(outcome(text(aiken))).toEqual(expected)
  })
})
