import { build } from 'esbuild'
import { bundling } from '../../src/bundle.ts'

/** Tests in browsers load what the modules are now, not what they were at the installation. */
export default async function setup(): Promise<void> {
  await build(bundling)
}
