// node test/bench/bombs.ts: measures the time and memory of the process that reads uploads, for harmful files and for one of 5,000 questions.
import { spawn } from 'node:child_process'
import { strToU8, zipSync } from 'fflate'
import { MAX_IMPORTED } from '../../src/domain/library/imports.ts'
import { MAX_BATCH_ROWS, MAX_IMPORT_BYTES } from '../../src/domain/limits.ts'
import type { UploadKind } from '../../src/uploads/read-process.ts'
import { PROGRAM } from '../../src/uploads/read-upload.ts'

const sheet = (xml: string | Uint8Array, more: Record<string, Uint8Array> = {}) =>
  zipSync({ 'xl/worksheets/sheet1.xml': typeof xml === 'string' ? strToU8(xml) : xml, ...more }, { level: 9 })
const rowsOf = (count: number, row: string) => `<sheetData>${row.repeat(count)}</sheetData>`
const qti = (files: Record<string, Uint8Array>) => {
  const resources = Object.keys(files).map((path) => `<resource type="imsqti_item_xmlv2p1" href="${path}"/>`)
  return zipSync({
    'imsmanifest.xml': strToU8(`<manifest>imsqti_xmlv2p1<resources>${resources.join('')}</resources></manifest>`),
    ...files,
  })
}
const nested = (open: string, close: string, depth: number) => `${open.repeat(depth)}x${close.repeat(depth)}`
const entities = `<!DOCTYPE quiz [<!ENTITY a "aaaaaaaaaa">${Array.from({ length: 9 }, (_, i) => `<!ENTITY a${i} "${`&a${i || ''};`.repeat(10)}">`).join('')}]>`

const question = (i: number) =>
  `<question type="multichoice"><name><text>Question ${i}</text></name><questiontext format="html"><text><![CDATA[<p>What is <b>${i}</b> plus one?</p>]]></text></questiontext><defaultgrade>1</defaultgrade><single>true</single>${[1, 2, 3, 4].map((k) => `<answer fraction="${k === 1 ? 100 : 0}" format="html"><text>${i + k}</text></answer>`).join('')}</question>`

const FILES: Record<string, () => Uint8Array> = {
  'ZIP: 1 GB of zeros in a sheet': () => sheet(new Uint8Array(1_000_000_000)),
  'ZIP: 1 GB of zeros in the shared texts': () =>
    sheet('<sheetData/>', { 'xl/sharedStrings.xml': new Uint8Array(1_000_000_000) }),
  'ZIP: 79 MB of zeros in a sheet': () => sheet(new Uint8Array(79_000_000)),
  'ZIP: 60,000 files': () =>
    zipSync(Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`xl/worksheets/${i}.xml`, new Uint8Array()]))),
  'ZIP: a package in a package': () => zipSync({ 'xl/a.zip': zipSync({ 'b.zip': new Uint8Array(10_000_000) }) }),
  'cells: 5 million empty ones': () => sheet(rowsOf(1, `<row>${'<c/>'.repeat(5_000_000)}</row>`)),
  'cells: 1.4 million in 200 columns': () => sheet(rowsOf(7_000, `<row>${'<c t="b"><v>1</v></c>'.repeat(200)}</row>`)),
  'cells: 1.4 million different ones': () =>
    sheet(
      `<sheetData>${Array.from({ length: 7_000 }, (_, i) => `<row>${Array.from({ length: 200 }, (_, j) => `<c><v>${i * 7_919 + j * 104_729}</v></c>`).join('')}</row>`).join('')}</sheetData>`,
    ),
  'cells: 240,000 rows in the last column': () =>
    sheet(
      `<sheetData>${Array.from({ length: 240_000 }, (_, i) => `<row r="${i + 1}"><c r="GR${i + 1}" t="b"><v>1</v></c></row>`).join('')}</sheetData>`,
    ),
  'cells: one text of 190,000 characters in 5,000 rows': () =>
    sheet(rowsOf(1, '<row><c t="s"><v>0</v></c></row>') + rowsOf(5_000, '<row><c t="s"><v>1</v></c></row>'), {
      'xl/sharedStrings.xml': strToU8(`<si><t>text</t></si><si><t>\u0100${'x'.repeat(190_000)}</t></si>`),
    }),
  'cells: 10,000 merged ranges': () =>
    sheet(
      `<sheetData><row r="1"><c r="A1" t="str"><v>text</v></c></row>${'<row><c t="b"><v>1</v></c></row>'.repeat(2_000)}</sheetData>${'<mergeCell ref="A1:A1048576"/>'.repeat(10_000)}`,
    ),
  'cells: a CSV of 5 million commas': () => strToU8(`text\n${','.repeat(5_000_000)}`),
  'cells: a CSV of 5 million lines': () => strToU8(`text\n${'a\n'.repeat(5_000_000)}`),
  'cells: a CSV of 10 million line breaks': () => strToU8(`text${'\n'.repeat(9_999_999)}`),
  'text: 10 million line breaks': () => strToU8(`What?${'\n'.repeat(9_999_994)}x`),
  'text: an answer of 10 million blanks': () => strToU8(`What?\nA. a\nB. b\nANSWER: A${' '.repeat(9_999_000)}x`),
  'cells: a CSV of empty quotations': () => strToU8(`text\n${'""\n'.repeat(3_333_333)}`),
  'cells: a CSV of quotation marks': () => strToU8(`text\n${'"'.repeat(9_999_999)}`),
  'entities: a billion laughs in a workbook': () => sheet(`${entities}<worksheet>&a8;</worksheet>`),
  'entities: a billion laughs in Moodle XML': () => strToU8(`${entities}<quiz>&a8;</quiz>`),
  'entities: a late DOCTYPE': () => strToU8(`<quiz>${' '.repeat(5_000)}${entities}&a8;</quiz>`),
  'entities: 2 million that XML has': () =>
    strToU8(`<quiz><question type="essay"><name><text>${'&amp;'.repeat(2_000_000)}</text></name></question></quiz>`),
  'XML: 100,000 levels': () => strToU8(`<quiz>${nested('<a>', '</a>', 100_000)}</quiz>`),
  'XML: 1 million elements in a question': () =>
    strToU8(`<quiz><question type="essay">${'<a/>'.repeat(1_000_000)}</question></quiz>`),
  'XML: 1 million attributes': () =>
    strToU8(`<quiz><question ${Array.from({ length: 1_000_000 }, (_, i) => `a${i}=""`).join(' ')}/></quiz>`),
  'XML: 300,000 questions': () => strToU8(`<quiz>${'<question type="essay"/>'.repeat(300_000)}</quiz>`),
  'QTI: an item of 79 MB': () => qti({ 'a.xml': strToU8(`<assessmentItem>${'<a>b</a>'.repeat(9_900_000)}</assessmentItem>`) }),
  'QTI: a billion laughs': () => qti({ 'a.xml': strToU8(`${entities}<assessmentItem>&a8;</assessmentItem>`) }),
  'GIFT: 20 MB of braces': () => strToU8(`Q{=a}\n\n${'{'.repeat(MAX_IMPORT_BYTES - 10)}`),
  'HTML: 40,000 levels in a question': () =>
    strToU8(
      `<quiz><question type="essay"><name><text>a</text></name><questiontext format="html"><text><![CDATA[${nested('<b>', '</b>', 40_000)}]]></text></questiontext></question></quiz>`,
    ),
  'no bomb: 5,000 questions in Moodle XML': () =>
    strToU8(`<quiz>${Array.from({ length: 5_000 }, (_, i) => question(i)).join('')}</quiz>`),
}

/** Prints the process's peak memory in kB and its processor time in µs. maxRSS would include the memory of the parent process. */
const TELL = `data:text/javascript,${encodeURIComponent(`import { readFileSync, writeSync } from 'node:fs'
process.on('exit', () => {
  const [, kilobytes] = /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))
  const { user, system } = process.cpuUsage()
  writeSync(2, 'USED ' + kilobytes + ' ' + (user + system))
})`)}`

type Figures = { outcome: string; seconds: number; cpuSeconds: number; megabytes: number }

async function measure(bytes: Uint8Array, content: UploadKind): Promise<Figures> {
  const args = [...PROGRAM.heap, '--import', TELL, PROGRAM.path]
  const began = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], serialization: 'advanced' })
  const { promise, resolve } = Promise.withResolvers<Figures>()
  let [outcome, errors, seconds] = ['', '', 0]
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (errors += text))
  child.on('message', (message: { ready?: true; part?: unknown; outcome?: { issues?: { problem: string }[]; bug?: string } }) => {
    if (message.ready) child.send({ content, bytes, maxRows: content.endsWith('andidates') ? MAX_BATCH_ROWS : MAX_IMPORTED })
    else if (message.part) child.send({ isTaken: true })
    else if (message.outcome) {
      seconds = (performance.now() - began) / 1_000
      outcome = message.outcome.issues?.[0]?.problem ?? message.outcome.bug?.split('\n')[0] ?? 'read'
    }
  })
  child.once('close', (code, signal) => {
    const [, kilobytes = 0, microseconds = 0] = /USED (\d+) (\d+)/.exec(errors) ?? []
    const ended = outcome || `ended: ${signal ?? code}`
    const elapsed = seconds || (performance.now() - began) / 1_000
    resolve({ outcome: ended, seconds: elapsed, cpuSeconds: Number(microseconds) / 1e6, megabytes: Number(kilobytes) / 1_024 })
  })
  return promise
}

const print = (line: string) => process.stdout.write(`${line}\n`)
const only = new RegExp(process.argv[2] ?? '')
const start = await measure(strToU8('Who?{=Ann}'), 'questions')
print(`a file of one question: ${start.seconds.toFixed(2)} s, ${start.megabytes.toFixed(0)} MB\n`)
print('seconds  CPU s  MB beyond that  outcome          file')
for (const [name, make] of Object.entries(FILES)) {
  if (!only.test(name)) continue
  const bytes = make()
  for (const content of ['inspectQuestions', 'questions'] as const) {
    const { outcome, seconds, cpuSeconds, megabytes } = await measure(bytes, content)
    const cells = [
      seconds.toFixed(2).padStart(7),
      cpuSeconds.toFixed(2).padStart(6),
      (megabytes - start.megabytes).toFixed(0).padStart(15),
    ]
    print([...cells, outcome.padEnd(16), `${name} (${(bytes.length / 1e6).toFixed(1)} MB, ${content})`].join('  '))
  }
}
