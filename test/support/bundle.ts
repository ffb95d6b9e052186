import { build } from 'esbuild'
import { bundles } from '../../src/bundle.ts'

/** Builds the browser bundles, so that browser tests load the current modules and not those of the installation. */
export default async function setup(): Promise<void> {
  for (const options of bundles) await build(options)
}
