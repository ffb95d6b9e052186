import { omitUndefined } from '../../domain/fields/omit-undefined.ts'
import type { KindFormat, NeutralAnswer } from '../neutral.ts'
import type { Key, Spec } from './schema.ts'

export const choiceFormat: KindFormat = {
  toDefinition: (answer, newId) => {
    if (answer.as !== 'options') return undefined
    const { several, exact, least, most, shuffle = true } = answer
    const options = answer.options.map((option) => ({ id: newId(), ...option }))
    const losses: string[] = []
    const spec: Spec = {
      options: options.map(({ id, text, fixed }) => ({ id, text, ...(fixed && { fixed }) })),
      ...omitUndefined({ shuffle, least, most }),
    }
    const responseType = several ? 'multiple_choice' : 'single_choice'
    const right = options.filter(({ share }) => share > 0)
    const isBalanced =
      right.length < options.length &&
      options.every(({ share }) => isNear(share, share > 0 ? 100 / right.length : -100 / (options.length - right.length)))
    const isExact = right.length === 1 && right[0]!.share === 100 && options.every(({ share }) => share === 100 || share === 0)
    if (several ? exact || isBalanced : isExact) {
      const key: Key = { policy: several && !exact ? 'balanced' : 'exact', right: right.map(({ id }) => id) }
      return { definition: { responseType, spec, key }, losses }
    }
    const hasPenalty = options.some(({ share }) => share < 0)
    if (hasPenalty && !several) losses.push('Negative points are not imported: a wrong option gives 0 %.')
    const weights = Object.fromEntries(
      options
        .map(({ id, share }) => [id, Math.round(several ? share : Math.max(0, share))] as const)
        .filter(([, share]) => share !== 0),
    )
    if (several) evenOut(weights)
    return { definition: { responseType, spec, key: { policy: 'weights', weights } }, losses }
  },
  toAnswer: ({ responseType, spec, key }) => {
    if (responseType !== 'single_choice' && responseType !== 'multiple_choice') return undefined
    const { options, least, most, shuffle } = spec as Spec
    const stored = key as Key
    const several = responseType === 'multiple_choice'
    const isExact = several && stored.policy === 'exact'
    const rights = stored.policy === 'weights' ? 0 : stored.right.length
    const shareOf = (id: string): number => {
      if (stored.policy === 'weights') return stored.weights[id] ?? 0
      if (stored.right.includes(id)) return several ? 100 / rights : 100
      return several ? -100 / (options.length - rights) : 0
    }
    const answer: NeutralAnswer = {
      as: 'options',
      several,
      ...(isExact && { exact: true }),
      ...omitUndefined({ least, most }),
      ...(!shuffle && { shuffle: false }),
      options: options.map(({ id, text, fixed }) => ({ text, share: shareOf(id), ...(fixed && { fixed }) })),
    }
    return { answer, losses: [] }
  },
}

/** Files contain rounded shares such as 33.33333. */
const isNear = (share: number, wanted: number): boolean => Math.abs(share - wanted) < 0.01

/** Corrects rounded thirds, so that the positive weights sum up to 100. */
function evenOut(weights: Record<string, number>): void {
  const positive = Object.keys(weights).filter((id) => weights[id]! > 0)
  const sum = positive.reduce((total, id) => total + weights[id]!, 0)
  const last = positive.at(-1)
  if (last && Math.abs(100 - sum) <= positive.length) weights[last] = weights[last]! + 100 - sum
}
