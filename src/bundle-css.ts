// Plugin of src/bundle.ts: compiles the stylesheet with the classes in use, collects the icons, and extracts the colors for mails. Its packages
// are not installed where the service runs.
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Plugin } from 'esbuild'
import { compile } from 'tailwindcss'

/** Files that contain class names. */
const TEMPLATES = ['http/**/*.{ts,js}', 'interfaces/**/*.ts', 'kinds/**/*.ts', 'html/*.ts']
const STYLES = 'http/pages/assets/pages.css'
const ICON_NAMES = 'http/pages/icon-names.ts'

/** Tailwind's `Polyfills.AtProperty`, whose type can't be imported as a value. */
const ONLY_AT_PROPERTY = 1

const { resolve } = createRequire(import.meta.url)
const sourcePath = (file: string) => path.join(import.meta.dirname, file)

/** Compiles the stylesheet with Tailwind, and writes icons and palette. */
export const stylesPlugin: Plugin = {
  name: 'look',
  setup(build) {
    build.onStart(writeIcons)
    build.onStart(writePalette)
    build.onLoad({ filter: /pages\/assets\/pages\.css$/ }, async () => {
      const contents = await compileStyles()
      return { contents, loader: 'css', resolveDir: path.dirname(sourcePath(STYLES)) }
    })
  },
}

/** Tailwind's and daisyUI's rules for the classes in use. */
async function compileStyles(): Promise<string> {
  const { build } = await compile(await readFile(sourcePath(STYLES), 'utf8'), {
    base: path.dirname(sourcePath(STYLES)),
    // Without color-mix, browsers keep the plain background. Tailwind's fallback would give it the text's color.
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

/** Every word that may be a class name. Tailwind ignores others. */
function findClasses(): string[] {
  const files = globSync(TEMPLATES, { cwd: import.meta.dirname })
  const texts = files.map((file) => readFileSync(sourcePath(file), 'utf8'))
  // Splits at quotes and spaces, and also at braces; `[&>p]:mb-2` and `*:mb-2` are classes too.
  const words = texts.flatMap((text) => [...text.split(/[\s"'`]+/), ...text.split(/[\s"'`<>={}$;]+/)])
  return [...new Set(words)].filter((word) => /^[a-z@[*-]/.test(word))
}

/** Writes the icons' shapes by name for src/http/pages/icon.ts. @throws Error for an unknown icon. */
function writeIcons(): void {
  const names = readFileSync(sourcePath(ICON_NAMES), 'utf8').match(/(?<=^ {2}')[a-z\d-]+(?=',$)/gm) ?? []
  const shapes = Object.fromEntries(names.map((name) => [name, readShapes(name)]))
  mkdirSync(sourcePath('generated/browser'), { recursive: true })
  writeFileSync(sourcePath('generated/browser/icons.json'), JSON.stringify(shapes))
}

/** Writes the themes' colors for mails, which can't use CSS variables. */
function writePalette(): void {
  const themes = readFileSync(sourcePath(STYLES), 'utf8').matchAll(/@plugin "daisyui\/theme" \{\s*name: "(\w+)";(.*?)\n\}/gs)
  const palette = Object.fromEntries(
    [...themes].map(([, name, rules]) => [
      name,
      Object.fromEntries([...rules!.matchAll(/--color-([\w-]+): (#[\da-f]{6});/g)].map(([, color, hex]) => [color, hex])),
    ]),
  )
  writeFileSync(sourcePath('generated/palette.json'), JSON.stringify(palette))
}

/** Content of the icon's SVG, with closing tags as templates require. */
const readShapes = (name: string): string =>
  readFileSync(resolve(`lucide-static/icons/${name}.svg`), 'utf8')
    .replace(/^.*?<svg[^>]*>\s*|\s*<\/svg>\s*$/gs, '')
    .replace(/<(\w+)([^>]*?)\s*\/>\s*/g, '<$1$2></$1>')
