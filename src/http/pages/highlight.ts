import { createRequire } from 'node:module'
import { type Html, html } from '../../html/html.ts'

/** Longer code is not highlighted, because the rules of some languages take quadratic time. */
const MAX_CHARACTERS = 3_000

/** Names of languages after ```, with their modules of highlight.js. */
const LANGUAGES: Record<string, readonly string[]> = {
  bash: ['bash', 'sh', 'shell'],
  c: ['c'],
  cpp: ['cpp', 'c++'],
  csharp: ['csharp', 'cs', 'c#'],
  css: ['css'],
  go: ['go'],
  java: ['java'],
  javascript: ['javascript', 'js', 'jsx'],
  json: ['json'],
  kotlin: ['kotlin', 'kt'],
  php: ['php'],
  python: ['python', 'py'],
  r: ['r'],
  ruby: ['ruby', 'rb'],
  rust: ['rust', 'rs'],
  sql: ['sql'],
  swift: ['swift'],
  typescript: ['typescript', 'ts', 'tsx'],
  xml: ['xml', 'html'],
  yaml: ['yaml', 'yml'],
}
const moduleByName = new Map(Object.entries(LANGUAGES).flatMap(([module, names]) => names.map((name) => [name, module])))

/** The package's own types would add browser types to the service. */
type Highlighter = {
  getLanguage: (name: string) => unknown
  registerLanguage: (name: string, language: unknown) => void
  highlight: (code: string, options: { language: string; ignoreIllegals: boolean }) => { value: string }
}
const require = createRequire(import.meta.url)
let highlighter: Highlighter | undefined

/** The highlighter and each language are loaded on first use, because most organizations have no questions about code. */
function loadLanguage(module: string): Highlighter {
  highlighter ??= require('highlight.js/lib/core') as Highlighter
  if (!highlighter.getLanguage(module)) highlighter.registerLanguage(module, require(`highlight.js/lib/languages/${module}`))
  return highlighter
}

/** Highlights code with spans that have highlight.js's classes. @param language name after ```; unknown languages are not highlighted. */
export function highlightCode(code: string, language: string): Html {
  const module = moduleByName.get(language.trim().toLowerCase())
  if (!module || code.length > MAX_CHARACTERS) return html`${code}`
  return toHtml(loadLanguage(module).highlight(code, { language: module, ignoreIllegals: true }).value)
}

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#x27;': "'" }

/** Reads the spans that highlight.js writes. Everything else is text. */
function toHtml(markup: string): Html {
  const open: { name: string; children: Html[] }[] = [{ name: '', children: [] }]
  for (const piece of markup.split(/(<span class="[\w -]+">|<\/span>)/)) {
    const [, name] = /^<span class="([\w -]+)">$/.exec(piece) ?? []
    if (name !== undefined) open.push({ name, children: [] })
    else if (piece === '</span>' && open.length > 1) {
      const { name: closed, children } = open.pop()!
      open.at(-1)!.children.push(html`<span class="${closed}">${children}</span>`)
    } else open.at(-1)!.children.push(html`${piece.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity]!)}`)
  }
  return html`${open.flatMap(({ children }) => children)}`
}
