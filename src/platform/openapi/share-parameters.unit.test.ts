import { expect, test } from "vitest";
import { shareParameters } from "./share-parameters.ts";

const inPath = (description: string) => ({ name: "id", in: "path", description });

test("a parameter of several operations becomes a component, and different ones of one name get numbers", () => {
  const operations = [
    { parameters: [inPath("Of a tree.")] },
    { parameters: [inPath("Of a bush.")] },
    { parameters: [inPath("Of a bush.")] },
    { parameters: [inPath("Of a tree.")] },
    { parameters: [inPath("Of a bush.")] },
    { parameters: [inPath("Of a leaf.")] },
    {},
  ];
  const tree = { $ref: "#/components/parameters/IdPath2" };
  const bush = { $ref: "#/components/parameters/IdPath" };

  expect(shareParameters(operations)).toEqual({
    IdPath: inPath("Of a bush."),
    IdPath2: inPath("Of a tree."),
  });
  expect(operations.map(({ parameters }) => parameters?.[0])).toEqual([
    tree,
    bush,
    bush,
    tree,
    bush,
    inPath("Of a leaf."),
    undefined,
  ]);
});
