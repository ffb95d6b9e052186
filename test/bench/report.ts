import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import path from 'node:path'
import { drawRatios } from './chart.ts'
import type { Result } from './measure.ts'
import type { Options } from './options.ts'

/** Writes the results as a table to standard output, as JSON and as a chart to their files. */
export async function report(results: Result[], options: Options): Promise<void> {
  process.stdout.write(`${results.flatMap(toLines).join('\n')}\n`)
  const unmet = results.flatMap(({ checks }) => checks).filter(({ met }) => met === false).length
  const failed = results.filter(({ failure }) => failure !== undefined).length
  process.stdout.write(`\n${unmet} goals not met, ${failed} cases failed\n`)
  const machine = { cpus: cpus().length, model: cpus()[0]?.model, node: process.version }
  await mkdir(path.dirname(options.out), { recursive: true })
  const run = { at: new Date().toISOString(), machine, options: { ...options, only: options.only.source } }
  await writeFile(options.out, `${JSON.stringify({ ...run, results }, null, 2)}\n`)
  await writeFile(options.chart, drawRatios(results))
  console.error(`written to ${options.out} and ${options.chart}`)
}

/** One line for the case, and one for each variant and check. */
export function toLines({ name, variants, checks, failure }: Result): string[] {
  const head = `\n${name.padEnd(46)}${variants.length > 0 ? '     req/s    p50 ms    p99 ms    cpu ms' : ''}`
  if (failure !== undefined) return [head, `  FAILED: ${failure}`]
  return [
    head,
    ...variants.map((variant) => {
      const figures = [variant.throughput.toFixed(0), variant.p50.toFixed(2), variant.p99.toFixed(2), variant.cpu.toFixed(2)]
      return `  ${variant.name.padEnd(44)}${figures.map((figure) => figure.padStart(10)).join('')}`
    }),
    ...checks.map(({ what, value, goal, met }) => {
      const verdict = goal === undefined ? '' : `   goal ${goal}`.padEnd(16) + (met ? 'met' : 'NOT met')
      return `  ${what.padEnd(44)}${value.toFixed(2).padStart(10)}${verdict}`
    }),
  ]
}
