const SVG = 'http://www.w3.org/2000/svg'
/** Four seconds, at ten levels a second. */
const BARS = 40
const SLOT = 6
const HEIGHT = 40
const MIN_HEIGHT = 3

/** Bars of the levels measured in the last seconds, the newest at the right. Hidden from screen readers. */
export function createBars() {
  const levels = Array.from({ length: BARS }, () => 0)
  const element = draw('svg', {
    class: 'h-10 w-60 max-w-full fill-primary',
    viewBox: `0 0 ${BARS * SLOT} ${HEIGHT}`,
    'aria-hidden': 'true',
  })
  const bars = levels.map((_level, i) => draw('rect', { x: String(i * SLOT + 1), width: '4', rx: '2' }))
  element.append(...bars)

  /** @param level from 0 to 1. */
  function add(level: number): void {
    levels.shift()
    levels.push(level)
    for (const [i, bar] of bars.entries()) {
      const height = MIN_HEIGHT + levels[i]! * (HEIGHT - MIN_HEIGHT)
      bar.setAttribute('y', ((HEIGHT - height) / 2).toFixed(1))
      bar.setAttribute('height', height.toFixed(1))
    }
  }

  add(0)
  return { element, add }
}

function draw(name: 'svg' | 'rect', attributes: Record<string, string>): SVGElement {
  const element = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  return element
}
