// What src/bundle.ts makes of the pages' look: the stylesheet of all pages, with the classes that are written in them and no others, the
// icons that they draw, and their colours for mails. It comes from packages of the installation: none is there where the service runs.
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Plugin } from 'esbuild'
import { compile } from 'tailwindcss'

/** Where classes are written: templates, and what scripts make in browsers. */
const TEMPLATES = ['http/**/*.{ts,js}', 'interfaces/**/*.ts', 'kinds/**/*.ts', 'html/*.ts']
const STYLES = 'http/pages/assets/pages.css'
const ICON_NAMES = 'http/pages/icon-names.ts'

/** Tailwind's `Polyfills.AtProperty`: its type can't be imported as a value. */
const ONLY_AT_PROPERTY = 1

const { resolve } = createRequire(import.meta.url)
const inSource = (file: string) => path.join(import.meta.dirname, file)

/** Gives esbuild the stylesheet with what Tailwind makes of it, and writes the icons. Both are made anew each time. */
export const look: Plugin = {
  name: 'look',
  setup(build) {
    build.onStart(writeIcons)
    build.onStart(writePalette)
    build.onLoad({ filter: /pages\/assets\/pages\.css$/ }, async () => {
      const contents = await compileStyles()
      return { contents, loader: 'css', resolveDir: path.dirname(inSource(STYLES)) }
    })
  },
}

/** Tailwind's and daisyUI's rules for the classes that are used. */
async function compileStyles(): Promise<string> {
  const { build } = await compile(await readFile(inSource(STYLES), 'utf8'), {
    base: path.dirname(inSource(STYLES)),
    // Where a browser can't mix colours, the ground stays as it is: mixed with nothing, it would have the colour of what is written on it.
    polyfills: ONLY_AT_PROPERTY,
    async loadStylesheet(id, base) {
      const file = resolve(id === 'tailwindcss' ? 'tailwindcss/index.css' : id)
      return { path: file, base, content: await readFile(file, 'utf8') }
    },
    async loadModule(id, base) {
      const file = resolve(id)
      return { path: file, base, module: (await import(file)).default }
    },
  })
  return build(findClasses())
}

/** Every word that may be the name of a class: Tailwind leaves out what is none. */
function findClasses(): string[] {
  const files = globSync(TEMPLATES, { cwd: import.meta.dirname })
  const texts = files.map((file) => readFileSync(inSource(file), 'utf8'))
  // As they stand between quotes and spaces, and by themselves in a template's braces; `[&>p]:mb-2` and `*:mb-2` are classes, too.
  const words = texts.flatMap((text) => [...text.split(/[\s"'`]+/), ...text.split(/[\s"'`<>={}$;]+/)])
  return [...new Set(words)].filter((word) => /^[a-z@[*-]/.test(word))
}

/** The shapes of the icons by their names, as src/http/pages/icon.ts reads them. @throws Error for a name that is no icon's. */
function writeIcons(): void {
  const names = readFileSync(inSource(ICON_NAMES), 'utf8').match(/(?<=^ {2}')[a-z\d-]+(?=',$)/gm) ?? []
  const shapes = Object.fromEntries(names.map((name) => [name, readShapes(name)]))
  mkdirSync(inSource('generated/browser'), { recursive: true })
  writeFileSync(inSource('generated/browser/icons.json'), JSON.stringify(shapes))
}

/** The colours of the themes, for mails: their programs know no variables. */
function writePalette(): void {
  const themes = readFileSync(inSource(STYLES), 'utf8').matchAll(/@plugin "daisyui\/theme" \{\s*name: "(\w+)";(.*?)\n\}/gs)
  const palette = Object.fromEntries(
    [...themes].map(([, name, rules]) => [
      name,
      Object.fromEntries([...rules!.matchAll(/--color-([\w-]+): (#[\da-f]{6});/g)].map(([, color, hex]) => [color, hex])),
    ]),
  )
  writeFileSync(inSource('generated/palette.json'), JSON.stringify(palette))
}

/** What stands in the icon's drawing, each element with its end, as templates want it. */
const readShapes = (name: string): string =>
  readFileSync(resolve(`lucide-static/icons/${name}.svg`), 'utf8')
    .replace(/^.*?<svg[^>]*>\s*|\s*<\/svg>\s*$/gs, '')
    .replace(/<(\w+)([^>]*?)\s*\/>\s*/g, '<$1$2></$1>')
