import { type Html, html } from '../../../html/html.ts'

const HEIGHT = 120
const SLOT = 20
const BAR = 8

/** A bar beside its number, which screen readers read instead. @param share of the whole, from 0 to 1. */
export const bar = (share: number): Html =>
  html`<svg class="fill-primary/20 block h-2 w-full min-w-12 overflow-hidden rounded-full" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width="100" height="10"></rect><rect class="fill-primary" width="${Math.round(share * 100)}" height="10"></rect></svg>`

/** A percentage as a ring around its number. Repeat the number beside it for screen readers. */
export const ring = (percent: number): Html =>
  html`<svg class="text-primary size-22 shrink-0" viewBox="0 0 100 100" aria-hidden="true"><g fill="none" stroke="currentColor" stroke-width="9"><circle class="opacity-20" cx="50" cy="50" r="45"></circle><circle cx="50" cy="50" r="45" pathLength="100" stroke-dasharray="${percent} 100" transform="rotate(-90 50 50)"></circle></g><text class="text-2xl font-semibold" fill="currentColor" x="50" y="50" text-anchor="middle" dominant-baseline="central">${percent} %</text></svg>`

/** Classes of the first and second bar of a step. */
const FILLS = ['fill-primary', 'fill-primary/30']

/**
 * One or two bars per step of a scale. Repeat the values in a table for screen readers.
 *
 * @param values of the bars, at least 0. @param most the top of the scale.
 */
export function chart(values: Bars, most = mostOf(values)): Html {
  const columns = (bars: readonly (number | undefined)[], i: number) =>
    bars.map((value = 0, j) => {
      const height = Math.ceil((value / most) * HEIGHT)
      const width = (2 * BAR) / bars.length
      return html`<rect class="${FILLS[j]}" x="${i * SLOT + 1 + j * width}" y="${HEIGHT - height}" width="${width}" height="${height}"></rect>`
    })
  return html`<svg class="block h-40 w-full print:break-inside-avoid" viewBox="0 0 ${values.length * SLOT} ${HEIGHT + 1}" preserveAspectRatio="none" aria-hidden="true">
${[0, HEIGHT / 2, HEIGHT].map((y) => html`<rect class="fill-base-300" x="0" y="${y}" width="${values.length * SLOT}" height="1"></rect>`)}
${values.map(columns)}
</svg>`
}

type Bars = (readonly [first: number, second?: number])[]
const mostOf = (values: Bars): number => Math.max(1, ...values.flat().map(Number))

/** A chart with a scale, which ends at an even number. */
export function scaledChart(values: Bars): Html {
  const most = mostOf(values)
  const top = most + (most % 2)
  return html`<div class="flex gap-2"><div class="min-w-0 grow">${chart(values, top)}</div>
<div class="text-base-content/70 flex min-w-6 flex-col justify-between text-end text-xs whitespace-nowrap leading-none tabular-nums" aria-hidden="true">${[top, top / 2, 0].map((tick) => html`<span>${tick.toLocaleString('en')}</span>`)}</div></div>`
}

/** A line without values; show those elsewhere. */
export function lineChart(values: number[]): Html {
  const most = Math.max(1, ...values)
  const points = values.map((value, i) => `${(i * 100) / Math.max(1, values.length - 1)},${28 - (value / most) * 26}`)
  return html`<svg class="text-primary mt-2 h-8 w-full" viewBox="0 0 100 30" preserveAspectRatio="none" aria-hidden="true"><polyline points="${points.join(' ')}" fill="none" stroke="currentColor" stroke-width="2" vector-effect="non-scaling-stroke"></polyline></svg>`
}
