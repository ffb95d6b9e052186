import type { KindExample } from '../kind.ts'

const [first, second, third] = ['tgzqmwbe', 'ohyxkvlr', 'cdnsufpa'] as const

export const examples: KindExample[] = [
  {
    responseType: 'ordering',
    script: 'Put these planets in order, beginning with the one closest to the Sun.',
    spec: {
      items: [
        { id: second, text: 'Earth' },
        { id: third, text: 'Mars' },
        { id: first, text: 'Venus' },
      ],
    },
    key: { order: [first, second, third] },
    right: { [first]: 1, [second]: 2, [third]: 3 },
    wrong: { [first]: 1, [second]: 3, [third]: 2 },
  },
]
