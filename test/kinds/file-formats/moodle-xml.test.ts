import { describe, expect, it } from 'vitest'
import { readFile } from '../../../src/kinds/file-formats/read-file.ts'
import { outcome } from '../../support/import-outcomes.ts'

// Questions in Moodle XML, written from its documentation. Each is imported, imported with named losses, or rejected with a reason.

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const quiz = (...questions: string[]) =>
  Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n<quiz>\n${questions.join('\n')}\n</quiz>`)
const question = (type: string, body: string, text = '<text>Which?</text>', format = 'html') =>
  `<question type="${type}"><name><text>N</text></name><questiontext format="${format}">${text}</questiontext>${body}</question>`
const answer = (fraction: number | string, text: string, more = '') =>
  `<answer fraction="${fraction}" format="html"><text>${text}</text>${more}</answer>`
const category = (path: string) => `<question type="category"><category><text>${path}</text></category></question>`
const PICTURE = `<file name="a b.png" path="/" encoding="base64">${PNG}</file>`
const ASSET = /asset:[0-9a-f-]{36}/g

const ONE = answer(100, 'a') + answer(0, 'b')
const FEEDBACK = '<feedback format="html"><text>Well done</text></feedback>'

describe('Moodle XML', () => {
  it.each<[string, string, string[]]>([
    ['one choice', question('multichoice', `<single>true</single>${ONE}`), ['Which?: *a|b']],
    [
      'one choice with shares',
      question('multichoice', `<single>1</single>${ONE}${answer('33.33333', 'c')}`),
      ['Which?: *a|b|*c'],
    ],
    [
      'several choices',
      question('multichoice', `<single>false</single>${answer(50, 'a')}${answer(50, 'b')}${answer(-100, 'c')}`),
      ['Which?: *a|*b|c several'],
    ],
    [
      'rounded thirds',
      question(
        'multichoice',
        `<single>0</single>${['a', 'b', 'c'].map((one) => answer('33.33333', one)).join('')}${answer(0, 'd')}`,
      ),
      ['Which?: *a|*b|*c|d several'],
    ],
    [
      'all or nothing',
      question('multichoiceset', `<single>false</single>${answer(100, 'a')}${answer(100, 'b')}${answer(0, 'c')}`),
      ['Which?: *a|*b|c several'],
    ],
    [
      'a choice without a right answer',
      question('multichoice', `<single>true</single>${answer(0, 'a')}${answer(50, 'b')}`),
      ['3: One option must give 100 percent.'],
    ],
    [
      'a penalty in one choice',
      question('multichoice', `<single>true</single>${answer(100, 'a')}${answer(-25, 'b')}`),
      ['Which?: *a|b (Negative points are not imported: a wrong option gives 0 %.)'],
    ],
    [
      'a fraction that is no number',
      question('multichoice', `<single>true</single>${answer('all', 'a')}${answer(0, 'b')}`),
      ['3: A share is not a number.'],
    ],
    [
      'an empty option',
      question('multichoice', `<single>true</single>${answer(100, 'a')}${answer(0, '')}`),
      ['3: An option has no text.'],
    ],
    ['true or false', question('truefalse', `${answer(0, 'true')}${answer(100, 'false')}`), ['Which?: True|*False']],
    [
      'true or false without a right answer',
      question('truefalse', `${answer(0, 'true')}${answer(0, 'false')}`),
      ['3: It has no right answer.'],
    ],
    [
      'short texts',
      question('shortanswer', `<usecase>0</usecase>${answer(100, 'Ann')}${answer(50, 'An*')}${answer(0, '*')}`),
      ['Which?: =Ann|=An* 50%'],
    ],
    [
      'a short text without points',
      question('shortanswer', `${answer(100, 'Ann')}${answer(0, 'Ben')}`),
      ['Which?: =Ann (Answers without points are left out.)'],
    ],
    [
      'a short text with a literal asterisk',
      question('shortanswer', answer(100, '5 \\* 3')),
      ['3: It accepts a text with an asterisk (“\\*”), which can’t be imported.'],
    ],
    [
      'an exception before a wildcard',
      question('shortanswer', `${answer(0, 'Colorado')}${answer(100, 'color*')}`),
      ['3: “Colorado” gives fewer points than “color*”, and both accept the same text.'],
    ],
    [
      'an exception after a wildcard',
      question('shortanswer', `${answer(100, 'color*')}${answer(0, 'colorado')}`),
      ['3: “colorado” gives fewer points than “color*”, and both accept the same text.'],
    ],
    [
      'a wildcard before a better text',
      question('shortanswer', `${answer(50, 'An*')}${answer(100, 'Ann')}`),
      ['3: “An*” gives fewer points than “Ann”, and both accept the same text.'],
    ],
    [
      'two wildcards of which the first gives less',
      question('shortanswer', `${answer(50, 'a*b')}${answer(100, 'ac*')}`),
      ['3: “a*b” gives fewer points than “ac*”, and both accept the same text.'],
    ],
    [
      'wildcards that never accept the same text',
      question('shortanswer', `${answer(50, 'a*b')}${answer(100, 'c*b')}`),
      ['Which?: =a*b 50%|=c*b'],
    ],
    [
      'a text that differs from a better wildcard in case',
      question('shortanswer', `<usecase>1</usecase>${answer(0, 'Colorado')}${answer(100, 'color*')}`),
      ['Which?: =color* (Answers without points are left out.)'],
    ],
    ['no short text with points', question('shortanswer', answer(0, 'Ben')), ['3: No answer gets points.']],
    ['a short text with signs', question('shortanswer', answer(100, '&lt;b&gt; &amp;amp;')), ['Which?: =<b> &amp;']],
    ['a number', question('numerical', answer(100, '5.50', '<tolerance>0.5</tolerance>')), ['Which?: #5.50±0.5']],
    ['a number in science', question('numerical', answer(100, '1e3', '<tolerance>0</tolerance>')), ['Which?: #1000±0']],
    ['any number', question('numerical', `${answer(100, '5')}${answer(0, '*')}`), ['Which?: #5±0']],
    [
      'a number without points within another',
      question('numerical', `${answer(0, '5.5')}${answer(100, '5', '<tolerance>1</tolerance>')}`),
      ['3: A number with fewer points lies within another answer.'],
    ],
    [
      'a number without points at the bound of another',
      question('numerical', `${answer(100, '0.8', '<tolerance>0.1</tolerance>')}${answer(0, '0.7')}`),
      ['3: A number with fewer points lies within another answer.'],
    ],
    [
      'a tolerance before the exact number',
      question('numerical', `${answer(50, '5', '<tolerance>1</tolerance>')}${answer(100, '5')}`),
      ['3: A number with fewer points lies within another answer.'],
    ],
    [
      'any number first',
      question('numerical', `${answer(0, '*')}${answer(100, '5')}`),
      ['3: A number with fewer points lies within another answer.'],
    ],
    ['no number', question('numerical', answer(100, 'five')), ['3: “five” is not a number.']],
    [
      'one unit',
      question('numerical', `${answer(100, '5')}<units><unit><multiplier>1</multiplier><unit_name>km</unit_name></unit></units>`),
      ['Which?: #5±0'],
    ],
    [
      'two units',
      question(
        'numerical',
        `${answer(100, '5')}<units><unit><multiplier>1</multiplier><unit_name>km</unit_name></unit><unit><multiplier>1000</multiplier><unit_name>m</unit_name></unit></units>`,
      ),
      ['Which?: #5±0 (Units are not imported.)'],
    ],
    [
      'pairs',
      question(
        'matching',
        '<subquestion format="html"><text>x</text><answer><text>1</text></answer></subquestion><subquestion><text>y</text><answer><text>2</text></answer></subquestion><subquestion><text></text><answer><text>3</text></answer></subquestion>',
      ),
      ['Which?: x->1|y->2|->3'],
    ],
    [
      'an order',
      question(
        'ordering',
        `<layouttype>VERTICAL</layouttype><selecttype>ALL</selecttype><gradingtype>ABSOLUTE_POSITION</gradingtype>${answer(1, 'x')}${answer(2, 'y')}`,
      ),
      ['Which?: x < y'],
    ],
    [
      'an order of a selection',
      question(
        'ordering',
        `<selecttype>RANDOM</selecttype><gradingtype>ALL_OR_NOTHING</gradingtype>${answer(1, 'x')}${answer(2, 'y')}`,
      ),
      [
        'Which?: x < y (All items are asked, instead of a selection.; Each item in its right place gets its share of the points.)',
      ],
    ],
    ['an essay', question('essay', '<responseformat>editor</responseformat><attachments>0</attachments>'), ['Which?: text']],
    [
      'an essay with files and notes',
      question(
        'essay',
        '<attachments>2</attachments><graderinfo format="html"><text>be kind</text></graderinfo><responsetemplate format="html"><text>Dear</text></responsetemplate>',
      ),
      [
        'Which?: text (Attached files are not asked for.; The information for graders is not imported.; The template of the answer is not imported.)',
      ],
    ],
    [
      'a file as the answer',
      question('essay', '<responseformat>noinline</responseformat>'),
      ['3: File uploads can’t be imported from Moodle yet.'],
    ],
    ['a recording', question('recordrtc', '<mediatype>audio</mediatype>'), ['Which?: audio']],
    [
      'a recording of a screen',
      question('recordrtc', '<mediatype>screen</mediatype>'),
      ['3: Recordings of the type “screen” can’t be imported.'],
    ],
    ['embedded answers', question('cloze', ''), ['3: Questions of Moodle’s type “Embedded answers (Cloze)” can’t be imported.']],
    [
      'a calculated question',
      question('calculatedmulti', ONE),
      ['3: Questions of Moodle’s type “Calculated multichoice” can’t be imported.'],
    ],
    ['markers', question('ddmarker', ''), ['3: Questions of Moodle’s type “Drag and drop markers” can’t be imported.']],
    ['missing words', question('gapselect', ''), ['3: Questions of Moodle’s type “Select missing words” can’t be imported.']],
    ['a plugin', question('stack', ''), ['3: Questions of Moodle’s type “stack” can’t be imported.']],
    [
      'a type called as a property',
      question('constructor', ''),
      ['3: Questions of Moodle’s type “constructor” can’t be imported.'],
    ],
    ['a description', question('description', ''), ['3: It is a description without an answer.']],
    ['points', question('essay', '<defaultgrade>2.0000000</defaultgrade>'), ['Which?: text (2 points)']],
    [
      'parts of points',
      question('essay', '<defaultgrade>2.5000000</defaultgrade>'),
      ['Which?: text (3 points; Points are rounded: 3 instead of 2.5.)'],
    ],
    [
      'points that are no number',
      question('essay', '<defaultgrade>many</defaultgrade>'),
      ['3: Its default mark is not a number.'],
    ],
    ['no text', question('essay', '', '<text></text>'), ['3: It has no text.']],
    [
      'HTML',
      question('essay', '', '<text><![CDATA[<p>One &lt; <b>two</b></p><ul><li>x</li></ul>]]></text>'),
      ['One \\< **two**\n- x: text'],
    ],
    [
      'tags that are not escaped',
      question('essay', '', '<text><p>One <b>two</b> &lt; three</p></text>'),
      ['One **two** \\< three: text'],
    ],
    ['a plain text with tags', question('essay', '', '<text>a &lt;b&gt; c</text>', 'plain_text'), ['a <b> c: text']],
    ['Markdown', question('essay', '', '<text>**a** &lt;b&gt;</text>', 'markdown'), ['**a** <b>: text']],
    ['formulas', question('essay', '', '<text>Solve \\(a_1 &lt; b\\) for $5.</text>'), ['Solve $a_1 < b$ for \\$5.: text']],
    [
      'a formula in an option',
      question('multichoice', `<single>true</single>${answer(100, '\\(x\\)')}${answer(0, 'b')}`),
      ['Which?: *\\(x\\)|b (Formatting of answers is left out.)'],
    ],
    [
      'formatting of an option',
      question(
        'multichoice',
        `<single>true</single>${answer(100, '&lt;p&gt;a &lt;i&gt;b&lt;/i&gt;&lt;/p&gt;')}${answer(0, 'b')}`,
      ),
      ['Which?: *a b|b (Formatting of answers is left out.)'],
    ],
    [
      'a picture',
      question('essay', '', `<text>&lt;img src="@@PLUGINFILE@@/a%20b.png" alt="dot"&gt; What?</text>${PICTURE}`),
      ['![dot](asset:0) What?: text'],
    ],
    [
      'a picture of an option',
      question(
        'multichoice',
        `<single>true</single>${answer(100, '&lt;img src="@@PLUGINFILE@@/a%20b.png"&gt;', PICTURE)}${answer(0, 'b')}`,
      ),
      ['Which?: *![](asset:0)|b'],
    ],
    [
      'a picture in the text',
      question('essay', '', `<text>&lt;img src="data:image/png;base64,${PNG}" alt="dot"&gt; What?</text>`),
      ['![dot](asset:0) What?: text'],
    ],
    [
      'a picture in Markdown',
      question('essay', '', `<text>![dot](@@PLUGINFILE@@/a%20b.png) What?</text>${PICTURE}`, 'markdown'),
      ['![dot](asset:0) What?: text'],
    ],
    [
      'a picture that is missing',
      question('essay', '', '<text>What? &lt;img src="@@PLUGINFILE@@/c.png" alt="dot"&gt;</text>'),
      ['What? dot: text (A picture is left out.)'],
    ],
    [
      'a picture of another site',
      question('essay', '', '<text>What? &lt;img src="https://example.com/c.png" alt=""&gt;</text>'),
      ['What?: text (A picture is left out: https://example.com/c.png)'],
    ],
    [
      'audio',
      question('essay', '', '<text>What? &lt;audio src="@@PLUGINFILE@@/a.mp3"&gt;&lt;/audio&gt;</text>'),
      ['What?: text (Audio is left out.)'],
    ],
    [
      'feedback',
      question(
        'multichoice',
        `<single>true</single><generalfeedback format="html"><text>G</text></generalfeedback>${answer(100, 'a', FEEDBACK)}${answer(0, 'b')}<hint format="html"><text>H</text></hint>`,
      ),
      ['Which?: *a|b (General feedback is not imported.; Feedback is not imported.; Hints are not imported.)'],
    ],
    [
      'feedback of Moodle itself',
      question(
        'multichoice',
        `<single>true</single><correctfeedback format="html"><text>&lt;p&gt;Your answer is correct.&lt;/p&gt;</text></correctfeedback><incorrectfeedback format="html"><text>Your answer is incorrect.</text></incorrectfeedback>${ONE}`,
      ),
      ['Which?: *a|b'],
    ],
    [
      'tags',
      question('essay', '<tags><tag><text>easy</text></tag></tags>'),
      ['Which?: text (Tags and ids of Moodle are not imported.)'],
    ],
    ['an id', question('essay', '<idnumber>17</idnumber>'), ['Which?: text (Tags and ids of Moodle are not imported.)']],
    ['a category', `${category('$course$/top/Maths/Alge//bra')}${question('essay', '')}`, ['Which?: text (Maths / Alge-bra)']],
    [
      'a deep category',
      `${category('$system$/top/A/B/C/D/E/F')}${question('essay', '')}`,
      [
        'Which?: text (A / B / C / D / E - F; Its category has more levels or longer names than the library takes: it becomes “A / B / C / D / E - F”.)',
      ],
    ],
  ])('imports or refuses %s', (_, xml, expected) => {
    expect(outcome(quiz(xml)).map((line) => line.replace(ASSET, 'asset:0'))).toEqual(expected)
  })

  it.each<[string, string, string[]]>([
    ['XML that is cut off', '<quiz>\n<question type="essay">', ['!damagedXml']],
    ['two roots', '<quiz></quiz><quiz></quiz>', ['!damagedXml']],
    ['an unknown entity', '<quiz>\n<question type="essay"><name>&nbsp;</name></question></quiz>', ['!damagedXml']],
    ['a DOCTYPE', '<!DOCTYPE quiz><quiz></quiz>', ['!doctype']],
    [
      'entities far from the beginning',
      `<!--${'x'.repeat(9_000)}--><!DOCTYPE quiz [<!ENTITY a "b">]><quiz></quiz>`,
      ['!otherFormat'],
    ],
    ['another element', '<quizzes><quiz/></quizzes>', ['!otherFormat']],
    ['a deep tree', `<quiz>${'<a>'.repeat(200)}${'</a>'.repeat(200)}</quiz>`, ['!tooHeavy']],
    ['a wide tree', `<quiz><question>${'<a/>'.repeat(100_001)}</question></quiz>`, ['!tooHeavy']],
    ['many attributes', `<quiz><question ${Array.from({ length: 101 }, (_, i) => `a${i}=""`).join(' ')}/></quiz>`, ['!tooHeavy']],
    ['a text of megabytes', quiz(question('essay', '', `<text>${'&lt;b>'.repeat(140_000)}</text>`)).toString(), ['!tooHeavy']],
    ['too many questions', quiz(question('essay', '').repeat(101)).toString(), ['!tooManyRows']],
  ])('refuses %s', (_, xml, expected) => {
    expect(outcome(Buffer.from(xml))).toEqual(expected)
  })

  it('stores a picture of megabytes once, however often a text refers to it', () => {
    const picture = '&lt;img src="@@PLUGINFILE@@/a.png"&gt;'
    const file = `<file name="a.png" path="/" encoding="base64">${'A'.repeat(2_000_000)}</file>`
    const began = process.cpuUsage().user
    const { rows } = readFile(quiz(question('essay', '', `<text>q ${picture.repeat(1_000)}</text>${file}`)), 10)
    expect((rows[0] as { question: { files: unknown[] } }).question.files).toHaveLength(1)
    expect(process.cpuUsage().user - began).toBeLessThan(2_000_000)
  })

  it('reads the encoding that the file declares', () => {
    const xml = `<?xml version="1.0" encoding="ISO-8859-1"?><quiz>${question('essay', '', '<text>Où est Zoë ?</text>')}</quiz>`
    expect(outcome(Buffer.from(xml, 'latin1'))).toEqual(['Où est Zoë ?: text'])
    expect(readFile(Buffer.from(xml, 'latin1'), 10).facts).toMatchObject({ encoding: 'windows-1252', isEncodingDoubtful: false })
  })
})
