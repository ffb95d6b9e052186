import * as beside from './beside.ts'
import * as capacity from './capacity.ts'
import * as cases from './cases.ts'
import { median } from './load.ts'
import type { Figures } from './measure.ts'
import * as questions from './questions.ts'
import { starts } from './servers.ts'

/** Limit for the median, over a case's rounds, of a figure of its first target. With `over`, the figure is divided by that target's figure. */
type Bound = { sign: '≥' | '≤'; limit: number; figure: string; over?: string | undefined }
const atLeast = (limit: number, figure: string, over?: string): Bound => ({ sign: '≥', limit, figure, over })
const atMost = (limit: number, figure: string, over?: string): Bound => ({ sign: '≤', limit, figure, over })

/**
 * A goal of docs/performance.md.
 *
 * @property name prefix of its cases' names.
 * @property isLong true if a quick run skips the goal, unless its name is given.
 * @property rounds number of rounds if fewer than usual suffice.
 */
export type Goal = {
  goal: string
  name: string
  cases: cases.Cases
  connections?: number
  rounds?: number
  isLong?: true
  bounds: Bound[]
}

const reads = { cases: cases.reads, bounds: [atLeast(0.5, 'throughput', 'floor')] }
const lists = { connections: 16, bounds: [atLeast(2, 'throughput', 'plain'), atLeast(0.5, 'throughput', 'floor')] }
const sizes = { connections: 16, bounds: [atLeast(0.8, 'throughput', 'small')] }
const filters = { connections: 4, bounds: [atMost(1.2, 'p50', 'first page')] }
const words = { connections: 4, bounds: [atMost(3, 'p50', 'first page')] }
const searches = { connections: 4, bounds: [atMost(4.5, 'p50', 'first page')] }
const starting = [atMost(4, 'new data folder, s'), atMost(2, 'once more, s')]
const memory = [atMost(280, 'most, MB'), atMost(5, 'growth over the last half, %')]
const scoring = [atMost(25, 'start'), atMost(30, 'hand-in'), atMost(100, 'sheet')]
const grading = [atMost(100, 'p50'), atMost(2, 'p50', 'few')]

const living = (postgres: number, service: number) => [atMost(postgres, 'PostgreSQL, ms'), atMost(service, 'service, ms')]
const texts = [...living(100, 200), atMost(30, 'disk of 1,000, MB')]
const recordings = [...living(500, 4_000), atMost(1_000, 'joining a recording, ms')]

/** This goal has no cases: memory is measured while one service runs the cases of all other goals. */
export const MEMORY = 'memory'

/** Each goal with its cases and bounds. */
export const GOALS: Goal[] = [
  { goal: 'One invite, assessment or tag', name: 'read', connections: 16, ...reads },
  { goal: 'The same, 1 connection', name: 'read by 1', connections: 1, ...reads, isLong: true },
  { goal: 'Lists, 20 a page', name: 'list 20', cases: cases.lists(20), ...lists },
  { goal: 'Lists, 100 a page', name: 'list 100', cases: cases.lists(100), ...lists, isLong: true },
  { goal: 'Nested objects', name: 'depth', cases: cases.depths, connections: 16, bounds: [atMost(3.5, 'p50', 'depth=0')] },
  {
    goal: 'POST /invites',
    name: 'create',
    cases: cases.creations,
    connections: 16,
    bounds: [atLeast(0.45, 'throughput', 'floor')],
  },
  { goal: 'First page', name: 'first page', cases: cases.firstPages, ...sizes },
  { goal: 'First page in each sort order', name: 'sorted', cases: cases.sortedPages, ...sizes, isLong: true },
  { goal: 'Last page', name: 'last page', cases: cases.lastPages, connections: 2, bounds: [atMost(2, 'p50', 'first page')] },
  { goal: 'Filtered by tag or recipient', name: 'filters', cases: cases.filters, ...filters },
  { goal: 'Recipient, by words', name: 'filters by words', cases: cases.words, ...words },
  { goal: 'The feed of events', name: 'events', cases: cases.feeds, ...filters },
  { goal: 'Search', name: 'search', cases: cases.searches, ...searches },
  {
    goal: 'Pages of the portal, ms',
    name: 'portal',
    cases: cases.portalPages,
    connections: 4,
    bounds: [atMost(50, 'p50')],
    rounds: 1,
  },
  {
    goal: 'The next answer to a question among 20,000, ms',
    name: 'next answer',
    cases: cases.nextAnswers,
    bounds: [atMost(150, 'p50'), atMost(2, 'p50', 'few')],
  },
  { goal: 'The grading queue and sheet, ms', name: 'grading', cases: cases.gradingPages, connections: 4, bounds: grading },
  { goal: 'Fifty questions that score themselves, ms', name: 'questions', cases: questions.scored, bounds: scoring },
  { goal: 'Memory over all of these', name: MEMORY, cases: () => [], bounds: memory },
  {
    goal: 'A read beside other work',
    name: 'beside',
    cases: beside.concurrentWork,
    bounds: [atMost(1.5, 'p50', 'alone')],
    isLong: true,
  },
  { goal: 'An invite', name: 'life', cases: capacity.unanswered, bounds: living(15, 30), isLong: true },
  { goal: 'An invite that is answered', name: 'life of texts', cases: capacity.withTexts, bounds: texts, isLong: true },
  {
    goal: 'The same, half recorded',
    name: 'life of recordings',
    cases: capacity.withRecordings,
    bounds: recordings,
    isLong: true,
  },
  { goal: 'npm start', name: 'start', cases: starts, bounds: starting, isLong: true },
]

/** Result of comparing a case with a bound. @property of medians of a ratio's two figures. The value itself is the median of the rounds' ratios. */
export type Verdict = { goal: string; what: string; value: number; bound: string; isMet: boolean; of: number[] }

/** Compares a case's figures with the bounds of its goal. Skips figures without values. */
export function judge({ goal, bounds }: Goal, figures: Figures): Verdict[] {
  const [own] = Object.values(figures)
  return bounds.flatMap(({ sign, limit, figure, over }) => {
    const all = [own!, ...(over ? [figures[over]!] : [])].map((target) => target[figure]!)
    const [values, others] = all as [number[], number[]?]
    if (values.length === 0) return []
    const value = median(values.map((of, round) => of / (others?.[round] ?? 1)))
    const isMet = sign === '≥' ? value >= limit : value <= limit
    const what = over ? `${figure} over ${over}` : figure
    return [{ goal, what, value, bound: `${sign} ${limit}`, isMet, of: others ? all.map(median) : [] }]
  })
}
