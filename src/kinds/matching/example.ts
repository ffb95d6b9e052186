import type { KindExample } from '../kind.ts'

const prompts = [
  { id: 'hvqzmtod', text: 'Norway' },
  { id: 'xkwaplfe', text: 'Sweden' },
]
const choices = [
  { id: 'mfepwqla', text: 'Helsinki' },
  { id: 'rdjguyns', text: 'Oslo' },
  { id: 'bvtcokzi', text: 'Stockholm' },
]
const right = { hvqzmtod: 'rdjguyns', xkwaplfe: 'bvtcokzi' }

export const examples: KindExample[] = [
  {
    responseType: 'matching',
    script: 'Which city is the capital of which country?',
    spec: { prompts, choices, shuffle: true },
    key: { pairs: right },
    right,
    wrong: { ...right, xkwaplfe: 'mfepwqla' },
  },
]
