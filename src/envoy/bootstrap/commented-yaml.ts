import { Document, isCollection, isMap, isScalar, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';

/** Collections up to this many characters stand on one line. */
const FLOW_WIDTH = 110;

/**
 * Plain data as YAML. A member `'# name'` is a comment above the member `name`, a member `'#'` one above the whole item
 * of a list, or at the head of the file; both hold text, with line feeds where a line ends.
 */
export function commentedYaml(data: object): string {
  const document = new Document();
  const { node, comment } = toNode(data);
  if (isCollection(node)) node.flow = false;
  document.contents = node as typeof document.contents;
  document.commentBefore = comment;
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

interface Built {
  readonly node: YAMLMap | YAMLSeq | Scalar;
  /** Text of the member `#`. */
  readonly comment: string | null;
}

function toNode(value: unknown): Built {
  if (Array.isArray(value)) return { node: toSeq(value), comment: null };
  if (typeof value === 'object' && value !== null) return toMap(value);
  return { node: new Scalar(value), comment: null };
}

function toSeq(items: readonly unknown[]): YAMLSeq {
  const seq = new YAMLSeq();
  for (const item of items) {
    const { node, comment } = toNode(item);
    if (comment !== null) node.commentBefore = comment;
    seq.items.push(node);
  }
  seq.flow = fitsOneLine(seq, items);
  return seq;
}

function toMap(value: object): Built {
  const map = new YAMLMap();
  let head: string | null = null;
  let next: string | null = null;
  for (const [name, member] of Object.entries(value)) {
    if (name === '#') head = indented(String(member));
    else if (name.startsWith('# ')) next = indented(String(member));
    else {
      const key = new Scalar(name);
      if (next !== null) key.commentBefore = next;
      next = null;
      map.items.push(new Pair(key, toNode(member).node));
    }
  }
  map.flow = head === null && fitsOneLine(map, value);
  return { node: map, comment: head };
}

const indented = (text: string): string => text.replaceAll(/^/gm, ' ');

/** True for a short collection without comments, so that small values do not stretch over many lines. */
function fitsOneLine(collection: YAMLMap | YAMLSeq, data: object): boolean {
  return JSON.stringify(data).length <= FLOW_WIDTH && !hasBlockPart(collection);
}

function hasBlockPart(node: YAMLMap | YAMLSeq): boolean {
  if (isMap(node)) {
    return node.items.some(({ key, value }) => {
      if (isScalar(key) && key.commentBefore) return true;
      return isCollection(value) && value.items.length > 0 && !value.flow;
    });
  }
  return node.items.some((item) => isCollection(item) && item.items.length > 0 && !item.flow);
}
