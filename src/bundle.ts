// npm run compile: makes of each interface's modules for browsers, and of its stylesheets, the one script and the one stylesheet that its
// pages load. They stand in src/generated/browser/.
import path from 'node:path'
import { type BuildOptions, build } from 'esbuild'

/** The oldest browsers that have what the pages' scripts use, see docs/operating.md: those before lack AbortSignal.timeout or findLast. */
const TARGET = ['chrome103', 'edge103', 'firefox104', 'safari16']

const inSource = (file: string) => path.join(import.meta.dirname, file)

/** What esbuild is asked for, also by src/dev.ts. */
export const bundling = {
  entryPoints: ['candidate', 'portal'].flatMap((name) => [
    { in: inSource(`interfaces/${name}/browser/${name}.ts`), out: name },
    { in: inSource(`interfaces/${name}/assets/${name}.css`), out: name },
  ]),
  outdir: inSource('generated/browser'),
  bundle: true,
  minify: true,
  format: 'esm',
  target: TARGET,
  logLevel: 'warning',
} satisfies BuildOptions

if (import.meta.main) await build(bundling)
