import type { Format, NeutralAnswer } from '../neutral.ts'
import type { Key, Spec } from './schema.ts'

/** Options with what each is worth. */
export const choiceFormat: Format = {
  take: (answer, newId) => {
    if (answer.as !== 'options') return undefined
    const options = answer.options.map((option) => ({ id: newId(), ...option }))
    const losses: string[] = []
    const spec: Spec = { options: options.map(({ id, text }) => ({ id, text })), shuffle: true }
    const responseType = answer.several ? 'multiple_choice' : 'single_choice'
    const right = options.filter(({ share }) => share > 0)
    const isBalanced =
      right.length < options.length &&
      options.every(({ share }) => isNear(share, share > 0 ? 100 / right.length : -100 / (options.length - right.length)))
    const isExact = right.length === 1 && right[0]!.share === 100 && options.every(({ share }) => share === 100 || share === 0)
    if (answer.several ? isBalanced : isExact) {
      const key: Key = { policy: answer.several ? 'balanced' : 'exact', right: right.map(({ id }) => id) }
      return { definition: { responseType, spec, key }, losses }
    }
    const hasPenalty = options.some(({ share }) => share < 0)
    if (hasPenalty && !answer.several) losses.push('What a wrong option takes away is not taken: it gives 0 %.')
    const weights = Object.fromEntries(
      options
        .map(({ id, share }) => [id, Math.round(answer.several ? share : Math.max(0, share))] as const)
        .filter(([, share]) => share !== 0),
    )
    if (answer.several) evenOut(weights)
    return { definition: { responseType, spec, key: { policy: 'weights', weights } }, losses }
  },
  give: ({ responseType, spec, key }) => {
    if (responseType !== 'single_choice' && responseType !== 'multiple_choice') return undefined
    const { options, least, most } = spec as Spec
    const given = key as Key
    const losses = [
      ...(least !== undefined || most !== undefined ? ['The number of options to choose is missing.'] : []),
      ...(options.some(({ fixed }) => fixed) ? ['Which options keep their place is not written.'] : []),
      ...((spec as Spec).shuffle ? [] : ['That options are not shuffled is not written.']),
    ]
    const several = responseType === 'multiple_choice'
    if (several && given.policy === 'exact')
      losses.push('That only the whole right answer counts is not written: wrong options take from right ones.')
    const rights = given.policy === 'weights' ? 0 : given.right.length
    const shareOf = (id: string): number => {
      if (given.policy === 'weights') return given.weights[id] ?? 0
      if (given.right.includes(id)) return several ? 100 / rights : 100
      return several ? -100 / (options.length - rights) : 0
    }
    const answer: NeutralAnswer = {
      as: 'options',
      several,
      options: options.map(({ id, text }) => ({ text, share: shareOf(id) })),
    }
    return { answer, losses }
  },
}

/** Files have thirds as 33.33333. */
const isNear = (share: number, wanted: number): boolean => Math.abs(share - wanted) < 0.01

/** Thirds are 33.33 in files: what is right sums up to 100. */
function evenOut(weights: Record<string, number>): void {
  const positive = Object.keys(weights).filter((id) => weights[id]! > 0)
  const sum = positive.reduce((all, id) => all + weights[id]!, 0)
  const last = positive.at(-1)
  if (last && Math.abs(100 - sum) <= positive.length) weights[last] = weights[last]! + 100 - sum
}
