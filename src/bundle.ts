// npm run compile: makes of each interface's modules for browsers the one script that its pages load, and the stylesheet of all pages, with
// its fonts, and their icons. They stand in src/generated/browser/. The texts that pages, scripts and mails say are compiled with them.
// Beside them lies the list of passwords that nobody is to choose.
import { globSync, rmSync } from 'node:fs'
import path from 'node:path'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { look } from './bundle-look.ts'
import { writeCommonPasswords } from './bundle-passwords.ts'
import { listLanguages, textsPlugin } from './locales/compile.ts'

/** The oldest browsers that Tailwind 4 is made for, see docs/browsers.md. */
const TARGET = ['chrome111', 'edge111', 'firefox128', 'safari16.4']

const inSource = (file: string) => path.join(import.meta.dirname, file)

const common = {
  loader: { '.woff2': 'file' },
  assetNames: '[name].[hash]',
  outdir: inSource('generated/browser'),
  bundle: true,
  minify: true,
  format: 'esm',
  charset: 'utf8', // as they are served; escaped, each apostrophe would be six letters
  target: TARGET,
  logLevel: 'warning',
} satisfies BuildOptions

/** Where a script of a language begins: it gives its texts to what all of them share. */
const begin: Plugin = {
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

/**
 * The candidate's script, one for each language, and what they share. What only some pages need is in files of its own, which those load:
 * src/http/pages/assets.ts finds them.
 */
export const candidateBundle = {
  ...common,
  entryPoints: listLanguages().map((language) => ({ in: `begin:${language}`, out: `candidate.${language}` })),
  plugins: [textsPlugin, begin],
  splitting: true,
  chunkNames: '[name].[hash]',
} satisfies BuildOptions

const otherBundles = {
  ...common,
  entryPoints: [
    { in: inSource('interfaces/candidate/browser/clock.ts'), out: 'candidate.clock' },
    { in: inSource('interfaces/portal/browser/portal.ts'), out: 'portal' },
    { in: inSource('interfaces/portal/browser/brand.ts'), out: 'brand' },
    { in: inSource('interfaces/portal/browser/passkeys.ts'), out: 'passkeys' },
    { in: inSource('http/docs/browser/docs.ts'), out: 'docs' },
    { in: inSource('http/pages/assets/pages.css'), out: 'pages' },
  ],
  plugins: [look],
} satisfies BuildOptions

/** What esbuild is asked for, one after the other, also by src/dev.ts. */
export const bundles: BuildOptions[] = [candidateBundle, otherBundles]

if (import.meta.main) {
  for (const file of globSync('generated/browser/*.js', { cwd: import.meta.dirname })) rmSync(inSource(file)) // parts as they were
  for (const options of bundles) await build(options)
  writeCommonPasswords(inSource('generated/common-passwords.txt'))
}
