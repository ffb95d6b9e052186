import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** True if Poppler's programs, which read PDFs, are installed. */
export const hasPoppler = (() => {
  try {
    execFileSync('pdftotext', ['-v'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

/** Direction marks that Poppler adds to bidirectional text. */
const MARKS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Reads the text in reading order, properties, fonts, and structure of a PDF with Poppler. */
export const readPdf = (pdf: Buffer) =>
  withPoppler(pdf, async (say) => {
    const fonts = (await say('pdffonts')).trim().split('\n').slice(2)
    return {
      text: (await say('pdftotext', '-enc', 'UTF-8')).replace(MARKS, ''),
      properties: Object.fromEntries((await say('pdfinfo')).split('\n').map((line) => line.split(/:\s+/))),
      structure: await say('pdfinfo', '-struct'),
      /** For each font, whether it is embedded and whether it is a subset. */
      fonts: fonts.map((line) => {
        const [name = '', ...columns] = line.trim().split(/\s+/)
        const [embedded, subset] = columns.slice(-5)
        return { name: name.replace(/^[A-Z]+\+/, ''), embedded, subset }
      }),
    }
  })

/** Returns each word with its distance from the left edge, in the order of the file. */
export const readWords = (pdf: Buffer) =>
  withPoppler(pdf, async (say) =>
    Array.from((await say('pdftotext', '-bbox')).matchAll(/<word xMin="([\d.]+)".*?>(.*?)<\/word>/g), ([, left, text]) => ({
      text,
      left: Number(left),
    })),
  )

/** @param work gets a function that runs a program on the file and returns its output. */
async function withPoppler<Result>(
  pdf: Buffer,
  work: (say: (program: string, ...options: string[]) => Promise<string>) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pdf-'))
  try {
    const file = path.join(folder, 'report.pdf')
    await writeFile(file, pdf)
    return await work(async (program, ...options) => {
      const output = program === 'pdftotext' ? ['-'] : []
      return (await run(program, [...options, file, ...output], { encoding: 'utf8' })).stdout
    })
  } finally {
    await rm(folder, { recursive: true })
  }
}
