import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

// Writes test/durations.json from the JSON report of a run, see longest-first.ts.

type Report = { testResults: { name: string; startTime: number; endTime: number }[] }

const ROOT = new URL('..', import.meta.url).pathname
const { testResults } = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Report
const seconds = testResults
  .map(({ name, startTime, endTime }) => [path.relative(ROOT, name), Math.round((endTime - startTime) / 1000)] as const)
  .sort(([one], [other]) => (one < other ? -1 : 1))
writeFileSync(new URL('../durations.json', import.meta.url), `${JSON.stringify(Object.fromEntries(seconds), null, 2)}\n`)
