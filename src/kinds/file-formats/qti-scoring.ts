import { plainDecimal } from './decimals.ts'
import { addLoss, type ReadState } from './rich-text.ts'
import { childOf, childrenOf, descendantsOf, isElement, textOf, type XmlNode } from './xml.ts'

/**
 * Scoring of a response: the correct one gets all points (`match`), or each part its mapped points (`map`), or another rule.
 *
 * @property values points by response. @property defaultScore points of other responses. @property maxScore limit of all points together.
 * @property points of the correct response; null if not said.
 */
export type Scoring = {
  rule: 'match' | 'map' | 'other'
  values: Map<string, number>
  defaultScore: number
  maxScore: number
  points: number | null
  tolerance: string | undefined
  isCaseSensitive: boolean
}

export function readScoring(item: XmlNode, declaration: XmlNode, reading: ReadState): Scoring {
  const correct = childrenOf(childOf(declaration, 'correctResponse') ?? emptyNode, 'value').map((value) => textOf(value).trim())
  const mapping = childOf(declaration, 'mapping')
  const { rule, points = null, tolerance } = findRule(item, { hasMapping: mapping !== undefined, reading })
  if (rule === 'map' && mapping) return { ...readMapping(mapping, reading), points }
  return {
    rule: rule === 'match' && correct.length > 0 ? 'match' : 'other',
    values: new Map(correct.map((value) => [value, 1])),
    ...{ defaultScore: 0, maxScore: Number.POSITIVE_INFINITY, points, tolerance, isCaseSensitive: true },
  }
}

const emptyNode: XmlNode = { name: '', line: 0, attributes: {}, children: [] }

function readMapping(mapping: XmlNode, reading: ReadState): Omit<Scoring, 'points'> {
  const { defaultValue = '0', upperBound, lowerBound } = mapping.attributes
  const entries = childrenOf(mapping, 'mapEntry')
  const values = entries.map(({ attributes }) => [attributes.mapKey ?? '', Number(attributes.mappedValue)] as const)
  const sensitive = entries.filter(({ attributes }) => attributes.caseSensitive !== 'false').length
  if (sensitive > 0 && sensitive < entries.length)
    addLoss(reading, 'Capital letters count for all accepted texts, or for none: here for none.')
  const hasNegative = [Number(defaultValue), ...values.map(([, value]) => value)].some((value) => value < 0)
  if (hasNegative && !(Number(lowerBound) >= 0)) addLoss(reading, 'No question gives less than 0 points.')
  const isKnown = values.every(([, value]) => !Number.isNaN(value))
  return {
    rule: isKnown ? 'map' : 'other',
    values: new Map(values),
    defaultScore: Number(defaultValue),
    maxScore: upperBound === undefined ? Number.POSITIVE_INFINITY : Number(upperBound),
    tolerance: undefined,
    isCaseSensitive: sensitive === entries.length,
  }
}

type Rule = { rule: Scoring['rule']; points?: number; tolerance?: string | undefined }

/** Elements of the two rules when they are written out. */
const CONDITION = ['responseCondition', 'responseIf', 'responseElse', 'variable', 'setOutcomeValue', 'baseValue', 'sum']
const MATCH = new Set([...CONDITION, 'match', 'equal', 'correct'])
const MAP = new Set([...CONDITION, 'isNull', 'not', 'mapResponse'])

function findRule(item: XmlNode, { hasMapping, reading }: { hasMapping: boolean; reading: ReadState }): Rule {
  const processing = childOf(item, 'responseProcessing')
  const template = /(match_correct|map_response)(\.xml)?$/.exec(processing?.attributes.template ?? '')?.[1]
  if (template) return { rule: template === 'match_correct' ? 'match' : 'map' }
  if (!processing || processing.children.filter(isElement).length === 0) {
    if (processing?.attributes.template) return { rule: 'other' }
    addLoss(reading, 'It does not say how it is scored: the correct answer gets all points.')
    return { rule: hasMapping ? 'map' : 'match' }
  }
  const elements = elementsBelow(processing)
  const hasOnly = (allowed: Set<string>) => elements.every(({ name }) => allowed.has(name))
  if (hasOnly(MAP) && elements.filter(({ name }) => name === 'mapResponse').length === 1) return { rule: 'map' }
  return (hasOnly(MATCH) && readMatchRule(processing)) || { rule: 'other' }
}

const elementsBelow = (node: XmlNode): XmlNode[] =>
  node.children.filter(isElement).flatMap((child) => [child, ...elementsBelow(child)])

/** A single condition that gives points for a match, and none otherwise. */
function readMatchRule(processing: XmlNode): Rule | undefined {
  const tests = descendantsOf(processing, 'match', 'equal').filter(
    (test) => childOf(test, 'correct') && childOf(test, 'variable'),
  )
  const [branch, ...more] = descendantsOf(processing, 'responseIf').filter((condition) => scoresOf(condition).length > 0)
  const elseScores = descendantsOf(processing, 'responseElse').flatMap(scoresOf)
  const [points = 0, ...further] = branch ? scoresOf(branch) : []
  if (tests.length !== 1 || !branch || more.length > 0 || further.length > 0) return undefined
  if (!branch.children.includes(tests[0]!) || points <= 0 || elseScores.some((score) => score !== 0)) return undefined
  const { name, attributes } = tests[0]!
  if (name === 'match' || (attributes.toleranceMode ?? 'exact') === 'exact') return { rule: 'match', points }
  const [lower, upper = lower, ...bounds] = (attributes.tolerance ?? '').trim().split(/\s+/).map(plainDecimal)
  const isPlain = attributes.toleranceMode === 'absolute' && lower !== undefined && lower === upper && bounds.length === 0
  return isPlain ? { rule: 'match', points, tolerance: lower } : undefined
}

/** Values that a branch gives to the score. */
const scoresOf = (branch: XmlNode): number[] =>
  childrenOf(branch, 'setOutcomeValue')
    .filter(({ attributes }) => attributes.identifier === 'SCORE')
    .flatMap((set) => descendantsOf(set, 'baseValue'))
    .map((value) => Number(textOf(value)))
