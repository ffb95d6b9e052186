// npm run compile: makes of each interface's modules for browsers the one script that its pages load, and the stylesheet of all pages, with
// its fonts, and their icons. They stand in src/generated/browser/. The texts that pages, scripts and mails say are compiled with them.
import path from 'node:path'
import { type BuildOptions, build } from 'esbuild'
import { look } from './bundle-look.ts'
import { texts } from './locales/compile.ts'

/** The oldest browsers that Tailwind 4 is made for, see docs/browsers.md. */
const TARGET = ['chrome111', 'edge111', 'firefox128', 'safari16.4']

const inSource = (file: string) => path.join(import.meta.dirname, file)

/** What esbuild is asked for, also by src/dev.ts. */
export const bundling = {
  entryPoints: [
    { in: inSource('interfaces/candidate/browser/candidate.ts'), out: 'candidate' },
    { in: inSource('interfaces/portal/browser/portal.ts'), out: 'portal' },
    { in: inSource('http/docs/browser/docs.ts'), out: 'docs' },
    { in: inSource('http/pages/assets/pages.css'), out: 'pages' },
  ],
  plugins: [texts, look],
  loader: { '.woff2': 'file' },
  assetNames: '[name].[hash]',
  outdir: inSource('generated/browser'),
  bundle: true,
  minify: true,
  format: 'esm',
  target: TARGET,
  logLevel: 'warning',
} satisfies BuildOptions

if (import.meta.main) await build(bundling)
