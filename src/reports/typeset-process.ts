import { NodeCompiler } from '@myriaddreamin/typst-ts-node-compiler'
import { runTask } from '../processes/run-task.ts'
import { FONTS } from './fonts.ts'
import { toSheet } from './to-sheet.ts'
import type { TypesetOutcome, TypesetTask } from './typeset-task.ts'

const WORKSPACE = import.meta.dirname
const TEMPLATE = `${WORKSPACE}/report.typ`

// Program started by typesetReports for one report.
runTask<TypesetTask, TypesetOutcome>(
  async (order) => ({ pdf: typeset(order) }),
  (error) => ({ problem: error instanceof Error ? error.message : String(error) }),
)

/** PDF/UA-1 requires a glyph for every character. If no font has one, the result is a tagged PDF with an empty box for it. */
function typeset({ report, madeAt }: TypesetTask): Uint8Array {
  const compiler = NodeCompiler.create({ workspace: WORKSPACE, fontArgs: [{ fontPaths: FONTS }] })
  const compiled = compiler.compile({ mainFilePath: TEMPLATE, inputs: { report: JSON.stringify(toSheet(report)) } })
  const document = compiled.result
  if (!document) throw new Error(JSON.stringify(compiled.takeDiagnostics()?.shortDiagnostics ?? 'no document'))
  const options = { creationTimestamp: madeAt, pdfTags: true }
  try {
    return compiler.pdf(document, { ...options, pdfStandard: 'ua-1' })
  } catch {
    return compiler.pdf(document, options)
  }
}
