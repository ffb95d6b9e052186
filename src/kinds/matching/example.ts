import type { Example } from '../example.ts'

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

export const examples: Example[] = [
  {
    responseType: 'matching',
    script: 'Which city is the capital of which country?',
    spec: { prompts, choices, shuffle: true },
    key: { pairs: right },
    right,
    wrong: { ...right, xkwaplfe: 'mfepwqla' },
  },
]
