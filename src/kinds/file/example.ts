import type { KindExample } from '../kind.ts'

const file = { id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e75', name: 'Cover letter.pdf', bytes: 48_213, type: 'application/pdf' }

export const examples: KindExample[] = [
  {
    responseType: 'file',
    script: 'Send us your cover letter.',
    spec: { groups: ['document'], most: 2 },
    key: {},
    right: [file],
    wrong: [file, { ...file, id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e76', name: 'Notes.txt', bytes: 312, type: 'text/plain' }],
  },
]
