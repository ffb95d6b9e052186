// npm run compile: makes of each interface's modules for browsers the one script that its pages load, and the stylesheet of all pages, with
// its fonts, and their icons. They stand in src/generated/browser/. The texts that pages, scripts and mails say are compiled with them.
import { globSync, rmSync } from 'node:fs'
import path from 'node:path'
import { type BuildOptions, build } from 'esbuild'
import { look } from './bundle-look.ts'
import { texts } from './locales/compile.ts'

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

/** The candidate's script. What only some pages need is in files of its own, which those load: src/http/pages/assets.ts finds them. */
export const candidateBundle = {
  ...common,
  entryPoints: [{ in: inSource('interfaces/candidate/browser/candidate.ts'), out: 'candidate' }],
  plugins: [texts],
  splitting: true,
  chunkNames: '[name].[hash]',
} satisfies BuildOptions

const otherBundles = {
  ...common,
  entryPoints: [
    { in: inSource('interfaces/portal/browser/portal.ts'), out: 'portal' },
    { in: inSource('http/docs/browser/docs.ts'), out: 'docs' },
    { in: inSource('http/pages/assets/pages.css'), out: 'pages' },
  ],
  plugins: [look],
} satisfies BuildOptions

/** What esbuild is asked for, one after the other, also by src/dev.ts. */
export const bundles: BuildOptions[] = [candidateBundle, otherBundles]

if (import.meta.main) {
  for (const file of globSync('generated/browser/*.*.js', { cwd: import.meta.dirname })) rmSync(inSource(file)) // parts as they were
  for (const options of bundles) await build(options)
}
