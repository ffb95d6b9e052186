/** Tests in browsers load what the modules are now, not what they were at the installation. */
export default async function setup(): Promise<void> {
  await import('../../src/bundle.ts')
}
