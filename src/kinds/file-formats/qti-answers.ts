import type { NeutralAnswer, NumberRange } from '../neutral.ts'
import { plainDecimal, roundPoints } from './decimals.ts'
import { toHtml } from './qti-html.ts'
import { readScoring, type Scoring } from './qti-scoring.ts'
import { addLoss, type ReadState, readAnswerText } from './rich-text.ts'
import { childOf, childrenOf, descendantsOf, isElement, textOf, type XmlNode } from './xml.ts'

// Answers of QTI items: the interaction defines what candidates do, and its response declaration the right answer.

/** @property choiceList text that is added to the question. */
export type QtiAnswer = { answer: NeutralAnswer; points: number | null; choiceList?: string }

export function interactionsIn(body: XmlNode): XmlNode[] {
  return body.children
    .filter(isElement)
    .flatMap((child) => (child.name.endsWith('Interaction') ? [child] : interactionsIn(child)))
}

type Item = { interaction: XmlNode; declaration: XmlNode; scoring: Scoring; reading: ReadState }

/** @returns the reason, in a sentence, if the item can't be imported. */
export function readQtiAnswer(item: XmlNode, interaction: XmlNode, reading: ReadState): QtiAnswer | string {
  const { responseIdentifier } = interaction.attributes
  const declaration = childrenOf(item, 'responseDeclaration').find(
    ({ attributes }) => attributes.identifier === responseIdentifier,
  )
  if (interaction.name === 'extendedTextInteraction') return { answer: { as: 'open', responseType: 'text' }, points: null }
  const readAnswer = Object.hasOwn(READERS, interaction.name) ? READERS[interaction.name] : undefined
  if (!readAnswer) return `Answers of the type “${interaction.name.replace(/Interaction$/, '')}” can’t be imported.`
  if (!declaration) return 'Its response is not declared.'
  const scoring = readScoring(item, declaration, reading)
  return readAnswer({ interaction, declaration, scoring, reading })
}

const READERS: Record<string, (item: Item) => QtiAnswer | string> = {
  choiceInteraction: (item) => readChoices(item, 'simpleChoice'),
  inlineChoiceInteraction: (item) => readChoices(item, 'inlineChoice'),
  textEntryInteraction: readEntry,
  matchInteraction: readMatch,
  orderInteraction: readOrder,
}

type Choice = { id: string; text: string; isFixed: boolean }

const choicesOf = (node: XmlNode, name: string, reading: ReadState): Choice[] =>
  descendantsOf(node, name).map((choice) => ({
    id: choice.attributes.identifier ?? '',
    text: readAnswerText({ text: toHtml(choice, reading), format: 'html' }, reading),
    isFixed: choice.attributes.fixed === 'true',
  }))

const isShuffled = ({ attributes }: XmlNode): boolean => attributes.shuffle === 'true'

/** People grade a text where the scoring has no counterpart. */
function gradeManually({ interaction, reading }: Item, names: string[]): QtiAnswer {
  addLoss(reading, 'Its scoring has no counterpart: candidates write the answer, and people grade it.')
  const choices = names.flatMap((name) => choicesOf(interaction, name, reading)).map(({ text }) => `\n- ${text}`)
  return {
    answer: { as: 'open', responseType: 'text' },
    points: null,
    choiceList: choices.length > 0 ? `\n${choices.join('')}` : '',
  }
}

function readChoices(item: Item, name: string): QtiAnswer | string {
  const { interaction, declaration, scoring, reading } = item
  const choices = choicesOf(interaction, name, reading)
  const several = declaration.attributes.cardinality === 'multiple'
  const unknown = [...scoring.values.keys()].find((id) => !choices.some((choice) => choice.id === id))
  if (unknown !== undefined) return `The right answer “${unknown.slice(0, 60)}” is not an option.`
  if (scoring.rule === 'other') return gradeManually(item, [name])
  if (choices.some(({ text }) => text === '')) return 'An option has no text.'
  const values = choices.map(({ id }) => scoring.values.get(id) ?? scoring.defaultScore)
  const positive = values.filter((value) => value > 0)
  const total = several ? positive.reduce((sum, value) => sum + value, 0) : Math.max(0, ...positive)
  if (total === 0) return 'No answer gets points.'
  // Beyond the limit, more right options give nothing.
  if (scoring.rule === 'map' && scoring.maxScore < total) return gradeManually(item, [name])
  const isExact = several && scoring.rule === 'match'
  const { maxChoices = '1', minChoices = '0' } = interaction.attributes
  const limits = {
    ...(several && Number(minChoices) > 0 && { least: Number(minChoices) }),
    ...(several && Number(maxChoices) > 1 && Number(maxChoices) < choices.length && { most: Number(maxChoices) }),
  }
  return {
    answer: {
      as: 'options',
      several,
      ...(isExact && { exact: true }),
      ...limits,
      ...(!isShuffled(interaction) && { shuffle: false }),
      options: choices.map(({ text, isFixed }, i) => ({
        text,
        share: (values[i]! / total) * 100,
        ...(isFixed && { fixed: true }),
      })),
    },
    points: pointsOf(scoring, total, reading),
  }
}

const pointsOf = ({ rule, points }: Scoring, total: number, { losses }: ReadState): number | null => {
  const found = rule === 'map' ? total : points
  return found === null ? null : roundPoints(String(found), losses)
}

function readEntry(item: Item): QtiAnswer | string {
  const { declaration, scoring, reading } = item
  const total = Math.max(0, ...scoring.values.values())
  if (scoring.rule === 'other' || (scoring.rule === 'map' && scoring.defaultScore !== 0)) return gradeManually(item, [])
  if (total === 0) return 'No answer gets points.'
  if (scoring.rule === 'map' && scoring.maxScore < total) return gradeManually(item, [])
  const right = [...scoring.values].flatMap(([text, value]) => (value > 0 ? [{ text, share: (value / total) * 100 }] : []))
  const points = pointsOf(scoring, total, reading)
  if (declaration.attributes.baseType === 'string') {
    // In short texts an asterisk would match any characters.
    if (right.some(({ text }) => text.includes('*'))) return gradeManually(item, [])
    const answer = { as: 'words', accepted: right, ...(scoring.isCaseSensitive && { caseSensitive: true as const }) } as const
    return { answer, points }
  }
  const ranges: NumberRange[] = []
  for (const { text, share } of right) {
    const value = plainDecimal(text)
    if (value === undefined) return `“${text.slice(0, 60)}” is not a number.`
    ranges.push({ value, tolerance: scoring.tolerance, share: Math.round(share) })
  }
  return { answer: { as: 'number', ranges }, points }
}

const PARTIAL_CREDIT = 'Each right part gets its share of the points.'

function readMatch(item: Item): QtiAnswer | string {
  const { interaction, scoring, reading } = item
  const [sources, targets] = childrenOf(interaction, 'simpleMatchSet').map((set) =>
    choicesOf(set, 'simpleAssociableChoice', reading),
  )
  if (!sources || !targets) return 'It has no two lists to match.'
  const rated = [...scoring.values].filter(([, value]) => value > 0)
  if (scoring.rule === 'other' || rated.length === 0) return gradeManually(item, ['simpleAssociableChoice'])
  const isEven = rated.every(([, value]) => value === rated[0]![1])
  if (scoring.rule === 'match' || !isEven) addLoss(reading, PARTIAL_CREDIT)
  const pairs: [string, string][] = []
  for (const { id, text } of sources) {
    const fitting = rated.flatMap(([pair]) => {
      const [source, target] = pair.split(/\s+/)
      return source === id ? targets.filter((candidate) => candidate.id === target) : []
    })
    if (fitting.length !== 1) return `The prompt “${text.slice(0, 60)}” fits ${fitting.length} choices instead of one.`
    pairs.push([text, fitting[0]!.text])
  }
  const used = rated.map(([pair]) => pair.split(/\s+/)[1])
  const unusedTargets = targets.filter(({ id }) => !used.includes(id)).map(({ text }): [string, string] => ['', text])
  const total = rated.reduce((sum, [, value]) => sum + value, 0)
  return {
    answer: { as: 'pairs', pairs: [...pairs, ...unusedTargets], ...(!isShuffled(interaction) && { shuffle: false }) },
    points: pointsOf(scoring, total, reading),
  }
}

function readOrder(item: Item): QtiAnswer | string {
  const { interaction, declaration, scoring, reading } = item
  const choices = choicesOf(interaction, 'simpleChoice', reading)
  const order = childrenOf(childOf(declaration, 'correctResponse') ?? declaration, 'value').map((value) => textOf(value).trim())
  if (scoring.rule !== 'match') return gradeManually(item, ['simpleChoice'])
  addLoss(reading, PARTIAL_CREDIT)
  const items = order.map((id) => choices.find((choice) => choice.id === id)?.text)
  if (items.length !== choices.length || items.some((text) => text === undefined))
    return 'Its right order does not name each item.'
  return { answer: { as: 'order', items: items as string[] }, points: pointsOf(scoring, 0, reading) }
}
