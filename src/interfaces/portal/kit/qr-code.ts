import { encode } from 'uqr'
import { type Html, html } from '../../../html/html.ts'

/** White modules around the code, which readers need. */
const BORDER = 4

/** A QR code as one SVG path, black on white in both color schemes. @param label text alternative. */
export function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { border: BORDER })
  const rows = data.map((row, y) =>
    runsOf(row)
      .map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`)
      .join(''),
  )
  return html`<svg class="for-cameras size-56 rounded-field" viewBox="${`0 0 ${size} ${size}`}" shape-rendering="crispEdges" role="img" aria-label="${label}"><path fill="currentColor" d="${rows.join('')}"></path></svg>`
}

/** Runs of black modules in a row. */
function runsOf(row: readonly boolean[]): [x: number, length: number][] {
  const runs: [number, number][] = []
  for (const [x, isBlack] of row.entries()) {
    const last = runs.at(-1)
    if (isBlack && last && last[0] + last[1] === x) last[1] += 1
    else if (isBlack) runs.push([x, 1])
  }
  return runs
}
