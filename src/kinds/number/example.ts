import type { KindExample } from '../kind.ts'

export const examples: KindExample[] = [
  {
    responseType: 'number',
    script: 'How long is a marathon?',
    spec: { unit: 'km' },
    key: { answers: [{ value: '42.195', tolerance: { by: '0.5', in: 'absolute' }, share: 100 }] },
    right: '42,2',
    wrong: '21',
  },
]
