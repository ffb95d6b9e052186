// npm run compile: bundles each interface's browser modules, the stylesheet with its fonts and icons, the texts of all languages, and the list of
// common passwords into src/generated/.
import { globSync, rmSync } from 'node:fs'
import path from 'node:path'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { stylesPlugin } from './bundle-css.ts'
import { writeCommonPasswords } from './bundle-passwords.ts'
import { listLanguages, textsPlugin } from './locales/compile.ts'

/** Tailwind 4's minimum browsers, see docs/browsers.md. */
const TARGET = ['chrome111', 'edge111', 'firefox128', 'safari16.4']

const sourcePath = (file: string) => path.join(import.meta.dirname, file)

const common = {
  loader: { '.woff2': 'file' },
  assetNames: '[name].[hash]',
  outdir: sourcePath('generated/browser'),
  bundle: true,
  minify: true,
  format: 'esm',
  charset: 'utf8', // pages are served as UTF-8; escapes would be longer
  target: TARGET,
  logLevel: 'warning',
} satisfies BuildOptions

/** Entry point of each language's script: passes its texts to the shared code. */
const languageEntry: Plugin = {
  name: 'begin',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^begin:/ }, ({ path: entry }) => ({ path: entry.slice('begin:'.length), namespace: 'begin' }))
    onLoad({ filter: /^/, namespace: 'begin' }, ({ path: language }) => ({
      contents: `import { begin } from './interfaces/candidate/browser/candidate.ts'
import { messages } from './generated/locales/browser.${language}.ts'
await begin(messages, () => import('./generated/locales/checks.${language}.ts'))`,
      resolveDir: import.meta.dirname,
    }))
  },
}

/** The candidate's script, one per language, with shared chunks. Parts that only some pages need are loaded on demand; src/http/pages/assets.ts finds them. */
export const candidateBundle = {
  ...common,
  entryPoints: listLanguages().map((language) => ({ in: `begin:${language}`, out: `candidate.${language}` })),
  plugins: [textsPlugin, languageEntry],
  splitting: true,
  chunkNames: '[name].[hash]',
} satisfies BuildOptions

const otherBundles = {
  ...common,
  entryPoints: [
    { in: sourcePath('interfaces/candidate/browser/clock.ts'), out: 'candidate.clock' },
    { in: sourcePath('interfaces/candidate/browser/open.ts'), out: 'candidate.open' },
    { in: sourcePath('interfaces/candidate/browser/solver.ts'), out: 'candidate.solver' },
    { in: sourcePath('interfaces/portal/browser/portal.ts'), out: 'portal' },
    { in: sourcePath('interfaces/portal/browser/brand.ts'), out: 'brand' },
    { in: sourcePath('interfaces/portal/browser/passkeys.ts'), out: 'passkeys' },
    { in: sourcePath('http/docs/browser/docs.ts'), out: 'docs' },
    { in: sourcePath('http/pages/assets/pages.css'), out: 'pages' },
  ],
  plugins: [stylesPlugin],
} satisfies BuildOptions

/** esbuild's options, also used by src/dev.ts. */
export const bundles: BuildOptions[] = [candidateBundle, otherBundles]

if (import.meta.main) {
  for (const file of globSync('generated/browser/*.js', { cwd: import.meta.dirname })) rmSync(sourcePath(file)) // chunks of the previous build
  for (const options of bundles) await build(options)
  writeCommonPasswords(sourcePath('generated/common-passwords.txt'))
}
