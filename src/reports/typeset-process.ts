import { NodeCompiler } from '@myriaddreamin/typst-ts-node-compiler'
import { doOneWork } from '../processes/do-one-work.ts'
import { FONTS } from './fonts.ts'
import type { Order, Outcome } from './order.ts'
import { toSheet } from './to-sheet.ts'

const WORKSPACE = import.meta.dirname
const TEMPLATE = `${WORKSPACE}/report.typ`

// The program that typesetReports starts: one report, then it ends.
doOneWork<Order, Outcome>(
  async (order) => ({ pdf: typeset(order) }),
  (error) => ({ problem: error instanceof Error ? error.message : String(error) }),
)

/**
 * PDF/UA-1 asks that every letter has a picture. Where a name has one that no font has, it is a tagged PDF all the same, with an empty box
 * in that letter's place.
 */
function typeset({ report, madeAt }: Order): Uint8Array {
  const compiler = NodeCompiler.create({ workspace: WORKSPACE, fontArgs: [{ fontPaths: FONTS }] })
  const made = compiler.compile({ mainFilePath: TEMPLATE, inputs: { report: JSON.stringify(toSheet(report)) } })
  const document = made.result
  if (!document) throw new Error(JSON.stringify(made.takeDiagnostics()?.shortDiagnostics ?? 'no document'))
  const options = { creationTimestamp: madeAt, pdfTags: true }
  try {
    return compiler.pdf(document, { ...options, pdfStandard: 'ua-1' })
  } catch {
    return compiler.pdf(document, options)
  }
}
