/** What is used of a layout that comes without types. */
declare module "d3-flextree" {
  export interface FlexNode<Data> {
    readonly data: Data
    /** Across, at the middle of the node. */
    readonly x: number
    /** Along, at its beginning. */
    readonly y: number
    readonly each: (visit: (node: FlexNode<Data>) => void) => void
  }
  export interface FlexTree<Data> {
    (tree: FlexNode<Data>): FlexNode<Data>
    readonly hierarchy: (data: Data) => FlexNode<Data>
  }
  export const flextree: <Data>(options: {
    readonly children: (data: Data) => ReadonlyArray<Data>
    readonly nodeSize: (node: FlexNode<Data>) => readonly [across: number, along: number]
    readonly spacing: number
  }) => FlexTree<Data>
}
