import { type Html, html } from '../../../html/html.ts'

const HEIGHT = 120
const SLOT = 20
const BAR = 8

/** A bar beside its number. The number says it to those who do not see it. @param share of the whole, from 0 to 1. */
export const bar = (share: number): Html =>
  html`<svg class="share" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width="100" height="10"></rect><rect class="first" width="${Math.round(share * 100)}" height="10"></rect></svg>`

/** The bars of a step, by how many there are. */
const NAMES = ['first', 'second']

/**
 * A bar or two for each step of a scale. What it shows stands in a table as well, for those who do not see it.
 *
 * @param values of the bars, from 0.
 */
export function chart(values: (readonly [first: number, second?: number])[]): Html {
  const most = Math.max(1, ...values.flat().map(Number))
  const columns = (bars: readonly (number | undefined)[], i: number) =>
    bars.map((value = 0, j) => {
      const height = Math.ceil((value / most) * HEIGHT)
      const width = (2 * BAR) / bars.length
      return html`<rect class="${NAMES[j]}" x="${i * SLOT + 1 + j * width}" y="${HEIGHT - height}" width="${width}" height="${height}"></rect>`
    })
  return html`<svg class="chart" viewBox="0 0 ${values.length * SLOT} ${HEIGHT + 1}" preserveAspectRatio="none" aria-hidden="true">
<rect class="axis" x="0" y="${HEIGHT}" width="${values.length * SLOT}" height="1"></rect>
${values.map(columns)}
</svg>`
}
