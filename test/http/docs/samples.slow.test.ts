import { execFile, spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createRowsToCall } from '../../support/callable.ts'
import { makeDataDir } from '../../support/data-dir.ts'
import { readInterface } from '../../support/operations.ts'
import { ownIdFor, type SampleOrganization } from '../../support/sample-organization.ts'
import { startServiceForFile } from '../../support/service.ts'
import { TO_LOOPBACK } from '../../support/webhooks.ts'

const service = await startServiceForFile(TO_LOOPBACK)
const origin = await service.app.listen({ port: 0, host: '127.0.0.1' })

/** Languages of the samples. `opening` and `one` join all samples into one program that prints the status of each response. */
const LANGUAGES = [
  {
    language: 'curl',
    file: 'all.sh',
    command: 'bash',
    opening: `curl() { command curl -s -o /dev/null -w "%{http_code}\\n" "\${@/#-OJ/-s}"; }`,
    one: (sample: string, key: string) => `export KEY=${key}\n${sample}`,
  },
  {
    language: 'TypeScript',
    file: 'all.ts',
    command: process.execPath,
    opening: 'const tell = console.log; console.log = (status: number, ...rest: unknown[]) => tell(status)',
    one: (sample: string, key: string) => `process.env.KEY = '${key}'\n{\n${sample}\n}`,
  },
  {
    language: 'Python',
    file: 'all.py',
    command: 'python3',
    opening: 'import builtins, os\ntell = builtins.print\nprint = lambda status, *rest: tell(status)',
    one: (sample: string, key: string) => `os.environ["KEY"] = "${key}"\n${sample}`,
  },
]

const isInstalled = (command: string): boolean => spawnSync(command, ['--version']).status === 0

const EXAMPLE_ID = '0197a3f2-[0-9a-f-]{27}'
const decode = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')

/** Reads all samples of a language from the pages, by operation. */
async function readSamples(name: string, language: string): Promise<Map<string, string>> {
  const { text: overview } = await service.http().get(`/docs/${name}`)
  const groups = new Set([...overview.matchAll(/href="(\/docs\/\w+\/[\w-]+)#\w+"/g)].map(([, address]) => address!))
  const samples = new Map<string, string>()
  for (const group of groups) {
    const { text } = await service.http().get(group)
    for (const [, id, article] of text.matchAll(/<article id="(\w+)"([\s\S]*?)<\/article>/g)) {
      const sample = new RegExp(`data-sample="${language}">[\\s\\S]*?<code>([\\s\\S]*?)</code>`).exec(article!)
      if (sample) samples.set(id!, decode(sample[1]!))
    }
  }
  return samples
}

/** Replaces the sample's ids with existing ones, and its email addresses with new ones, as a reader would. */
const withOwn = (sample: string, of: SampleOrganization): string =>
  sample
    .replaceAll(new RegExp(`([^/]+)/${EXAMPLE_ID}`, 'g'), (_all, before: string) => `${before}/${ownIdFor(before, of)}`)
    .replaceAll(
      new RegExp(`"(\\w+)": (\\[\\s*)?"${EXAMPLE_ID}"`, 'g'),
      (_all, name: string, open = '') => `"${name}": ${open}"${ownIdFor(name, of)}"`,
    )
    .replaceAll(/"points": [\d.]+/g, '"points": 1') // the question has one point
    .replaceAll(/[\w.]+@example\.com/g, () => `${crypto.randomUUID()}@example.com`)

describe.each(['v1', 'alternate'] as const)('the code samples of %s', (name) => {
  for (const { language, file, command, opening, one } of LANGUAGES)
    it.skipIf(!isInstalled(command))(`succeed one after another: ${language} (skipped where it is not installed)`, async () => {
      const samples = await readSamples(name, language)
      const operations = await readInterface(service, name)
      expect([...samples.keys()].sort()).toEqual(operations.map(({ id }) => id).sort())
      const { rowsFor } = await createRowsToCall(service, `${name}-${language}`)
      const programs = operations.map((operation) => {
        const rows = rowsFor(operation)
        return one(withOwn(samples.get(operation.id)!, rows), rows.key)
      })
      const folder = await makeDataDir()
      await writeFile(path.join(folder, file), `${opening}\n${programs.join('\n')}\n`)
      const env = { PATH: process.env.PATH, SERVICE: origin }
      const { stdout } = await promisify(execFile)(command, [path.join(folder, file)], { env, cwd: folder })
      const statuses = stdout
        .trim()
        .split('\n')
        .map((status, i) => `${operations[i]?.id} ${status}`)
      expect(statuses).toEqual(operations.map(({ id }) => expect.stringMatching(new RegExp(`^${id} 2\\d\\d$`))))
    })
})
