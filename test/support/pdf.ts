import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** True if Poppler's programs are installed, which read PDFs. */
export const hasPoppler = (() => {
  try {
    execFileSync('pdftotext', ['-v'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

/** Bidirectional text comes with marks of its direction. */
const MARKS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Poppler's view of a PDF: text in reading order, properties, fonts, and structure. */
export async function readPdf(pdf: Buffer) {
  const folder = await mkdtemp(path.join(tmpdir(), 'pdf-'))
  try {
    const file = path.join(folder, 'report.pdf')
    await writeFile(file, pdf)
    const say = async (program: string, ...more: string[]) => (await run(program, [...more], { encoding: 'utf8' })).stdout
    const fonts = (await say('pdffonts', file)).trim().split('\n').slice(2)
    return {
      text: (await say('pdftotext', '-enc', 'UTF-8', file, '-')).replace(MARKS, ''),
      properties: Object.fromEntries((await say('pdfinfo', file)).split('\n').map((line) => line.split(/:\s+/))),
      structure: await say('pdfinfo', '-struct', file),
      /** With whether each is embedded, and only as far as it is used. */
      fonts: fonts.map((line) => {
        const [name = '', ...columns] = line.trim().split(/\s+/)
        const [embedded, subset] = columns.slice(-5)
        return { name: name.replace(/^[A-Z]+\+/, ''), embedded, subset }
      }),
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}
