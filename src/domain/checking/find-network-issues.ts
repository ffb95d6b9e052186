import type { Issue } from '../errors.ts'
import { MAX_NETWORKS } from '../limits.ts'
import { readNetwork } from '../values/networks.ts'
import { checkSize, findIssues } from './checks.ts'

/** What is wrong with a list of networks: more than MAX_NETWORKS, or `notNetwork`, with the number of the line. */
export function findNetworkIssues(networks: readonly string[], field = 'networks'): Issue[] {
  const size = findIssues([[field, checkSize('maxItems', networks.length, MAX_NETWORKS)]])
  const wrong = networks.findIndex((text) => readNetwork(text) === null)
  return wrong < 0 ? size : [...size, { field, rule: 'account', problem: 'notNetwork', limit: wrong + 1 }]
}
