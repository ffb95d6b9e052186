import { encode } from 'uqr'
import { type Html, html } from '../../../html/html.ts'

/** Modules around it that are white: readers need them. */
const BORDER = 4

/** A text as a picture that a camera reads: one path, black on white in either colour scheme. @param label of what it is, for who does not see it. */
export function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { border: BORDER })
  const rows = data.map((row, y) =>
    runsOf(row)
      .map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`)
      .join(''),
  )
  return html`<svg class="for-cameras size-56 rounded-field" viewBox="${`0 0 ${size} ${size}`}" shape-rendering="crispEdges" role="img" aria-label="${label}"><path fill="currentColor" d="${rows.join('')}"></path></svg>`
}

/** Where in a row black begins, and how far it goes. */
function runsOf(row: readonly boolean[]): [x: number, length: number][] {
  const runs: [number, number][] = []
  for (const [x, isBlack] of row.entries()) {
    const last = runs.at(-1)
    if (isBlack && last && last[0] + last[1] === x) last[1] += 1
    else if (isBlack) runs.push([x, 1])
  }
  return runs
}
