import type { KindFormat } from '../neutral.ts'
import type { Key, Spec } from './schema.ts'

export const orderingFormat: KindFormat = {
  toDefinition: (answer, newId) => {
    if (answer.as !== 'order') return undefined
    const items = answer.items.map((text) => ({ id: newId(), text }))
    const key: Key = { order: items.map(({ id }) => id) }
    // Ids are random, so this order says nothing.
    const spec: Spec = { items: items.toSorted((one, other) => (one.id < other.id ? -1 : 1)) }
    return { definition: { responseType: 'ordering', spec, key }, losses: [] }
  },
  toAnswer: ({ responseType, spec, key }) => {
    if (responseType !== 'ordering') return undefined
    const texts = new Map((spec as Spec).items.map(({ id, text }) => [id, text]))
    return { answer: { as: 'order', items: (key as Key).order.map((id) => texts.get(id)!) }, losses: [] }
  },
}
