import { build } from 'esbuild'
import { bundles } from '../../src/bundle.ts'

/** Tests in browsers load what the modules are now, not what they were at the installation. */
export default async function setup(): Promise<void> {
  for (const options of bundles) await build(options)
}
