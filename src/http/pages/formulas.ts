import { createRequire } from 'node:module'
import type MarkdownIt from 'markdown-it'
import { type Html, html } from '../../html/html.ts'

// Formulas in Markdown: $…$ within a text, $$…$$ as a paragraph of their own.

/** Longer formulas, and formulas beyond the maximum number per text, are shown as source. */
const MAX_CHARACTERS = 1_000
const MAX_FORMULAS = 100

const OPTIONS = { output: 'mathml', maxSize: 20, strict: 'ignore' }
/** Commands that define macros, because a few macros can expand to a formula of any length. */
const DEFINITION = /\\(?:[gex]?def|let|futurelet|(?:re)?newcommand|providecommand|global|long)(?![a-zA-Z])/

/** Elements that KaTeX may write, and attributes that it must not write. */
const TAG = /<\/?([a-z]+)((?: [a-z]+="[^"<>]*")*)\/?>/g
const ELEMENTS = new Set(
  (
    'span math semantics annotation mrow mi mn mo mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover ' +
    'mtable mtr mtd mlabeledtr mstyle mpadded mphantom menclose'
  ).split(' '),
)
const FORBIDDEN = / (?:style|href|src|on[a-z]*)=/

/** Adds formulas to a reader of Markdown, as tokens of the types `formula` and `formula_block` with the source as their content. */
export function readFormulas(reader: InstanceType<typeof MarkdownIt>): void {
  reader.inline.ruler.before('escape', 'formula', (state, isSilent) => {
    const { src, pos, posMax } = state
    if (src[pos] !== '$') return false
    const sign = src.startsWith('$$', pos) ? '$$' : '$'
    const start = pos + sign.length
    const end = src.indexOf(sign, start)
    const content = src.slice(start, end)
    const isFormula =
      end > start &&
      end + sign.length <= posMax &&
      content.length <= MAX_CHARACTERS &&
      !content.endsWith('\\') &&
      isBounded(src, sign, content, end)
    if (!isFormula) return false
    const env = state.env as { formulas?: number }
    env.formulas = (env.formulas ?? 0) + 1
    if (env.formulas > MAX_FORMULAS) return false
    if (!isSilent) state.push(sign === '$' ? 'formula' : 'formula_block', 'math', 0).content = content
    state.pos = end + sign.length
    return true
  })
}

/** Excludes amounts of money: “$5 to $10” has a space before its second sign, and “$5-$10” has a digit after it. */
const isBounded = (src: string, sign: string, content: string, end: number): boolean =>
  sign === '$$' ? content.trim() !== '' : content.trim() === content && !/\d/.test(src[end + 1] ?? '')

/** KaTeX's own types would add browser types to the service. */
type Katex = { renderToString: (tex: string, options: typeof OPTIONS & { displayMode: boolean }) => string }
const require = createRequire(import.meta.url)
let katex: Katex | undefined

/** KaTeX is loaded with the first formula: most organizations write none. */
const loadKatex = (): Katex => (katex ??= require('katex') as Katex)

/** Renders TeX as MathML. Invalid TeX is shown as source. */
export function renderFormula(tex: string, { isBlock }: { isBlock: boolean }): Html {
  const markup = toMathMl(tex, isBlock)
  if (markup === null) return html`<code class="bg-base-200 rounded-field px-1 text-[0.9em]">${tex}</code>`
  // A template without values, so that html`` checks it.
  const formula = html(Object.assign([markup], { raw: [markup] }))
  return isBlock ? html`<span class="block overflow-x-auto py-1" tabindex="0">${formula}</span>` : formula
}

function toMathMl(tex: string, displayMode: boolean): string | null {
  if (DEFINITION.test(tex)) return null
  try {
    const markup = loadKatex().renderToString(tex, { ...OPTIONS, displayMode })
    return isExpected(markup) ? markup : null
  } catch (error) {
    if (error instanceof Error && error.name === 'ParseError') return null
    throw error
  }
}

function isExpected(markup: string): boolean {
  const tags = [...markup.matchAll(TAG)]
  return (
    tags.every(([, element, attributes]) => ELEMENTS.has(element!) && !FORBIDDEN.test(attributes!)) &&
    !markup.replace(TAG, '').includes('<')
  )
}
