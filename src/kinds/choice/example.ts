import type { KindExample } from '../kind.ts'

const options = [
  { id: 'qkzvwtab', text: 'Oslo' },
  { id: 'mfpdxhce', text: 'Bergen' },
  { id: 'jrtuynsg', text: 'Malmö' },
  { id: 'wbdkeicx', text: 'None of these', fixed: true },
]

export const examples: KindExample[] = [
  {
    responseType: 'single_choice',
    script: 'Which is the capital of Norway?',
    spec: { options, shuffle: true },
    key: { policy: 'exact', right: ['qkzvwtab'] },
    right: ['qkzvwtab'],
    wrong: ['jrtuynsg'],
  },
  {
    responseType: 'multiple_choice',
    script: 'Which of these cities are in Norway?',
    spec: { options, shuffle: true },
    key: { policy: 'balanced', right: ['qkzvwtab', 'mfpdxhce'] },
    right: ['qkzvwtab', 'mfpdxhce'],
    wrong: ['jrtuynsg', 'qkzvwtab'],
  },
]
