import type { KindExample } from '../kind.ts'

export const examples: KindExample[] = [
  {
    responseType: 'short_text',
    script: 'In which city is the Colosseum?',
    spec: { lines: 1 },
    key: {
      accepted: [
        { text: 'Rome', share: 100 },
        { text: 'Rom*', share: 50 },
      ],
      caseSensitive: false,
      ignore: { accents: false, punctuation: true },
      otherwise: 'wrong',
    },
    right: ' rome.',
    wrong: 'Athens',
  },
]
