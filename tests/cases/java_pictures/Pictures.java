// Wrote results.txt.gz beside it, with Deeplearning4j 1.0.0-M2.1: java ndwright.Pictures FOLDER RESULTS, where FOLDER is named pictures.
package ndwright;
import java.io.*; import java.net.URI; import java.util.*;
import org.datavec.api.io.filters.*; import org.datavec.api.io.labels.*; import org.datavec.api.split.*;
import org.datavec.image.loader.NativeImageLoader; import org.datavec.image.recordreader.ImageRecordReader;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.nd4j.linalg.api.ndarray.INDArray; import org.nd4j.linalg.dataset.DataSet; import org.nd4j.common.util.MathUtils;
public class Pictures {
  static StringBuilder out=new StringBuilder(); static String root;
  static void put(String k,String v){ out.append(k).append('\t').append(v).append('\n'); }
  static String nums(INDArray a){ StringBuilder s=new StringBuilder(Arrays.toString(a.shape()).replace(" ","")); s.append(' '); long n=1; for(long q:a.shape()) n*=q; for(long i=0;i<n;i++){ if(i>0)s.append(','); long[] at=new long[a.rank()]; long left=i; for(int q=a.rank()-1;q>=0;q--){ at[q]=left%a.shape()[q]; left/=a.shape()[q]; } float v=(float)a.getDouble(at); s.append(v==Math.rint(v)?Long.toString((long)v):Float.toString(v)); } return s.toString(); }
  static String rel(URI u){ String p=new File(u).getPath(); return p.substring(p.indexOf("/pictures/")+10); }
  static String rels(InputSplit s){ StringBuilder b=new StringBuilder(); for(Iterator<URI> it=s.locationsIterator(); it.hasNext();) b.append(b.length()>0?",":"").append(rel(it.next())); return b.toString(); }
  public static void main(String[] a) throws Exception {
    root=a[0]; String[] files={"cat/colour.png","cat/grey.png","cat/colour.jpg","dog/grey.jpg","dog/alpha.png","dog/palette.png","dog/turned.jpg","emu/deep.png","emu/square.bmp","emu/bits.png"};
    long[][] sizes={{-1,-1,-1},{6,5,3},{5,8,1},{20,21,3},{7,4,-1},{7,5,4},{12,9,3}};
    for(String f:files) for(long[] z:sizes) for(int crop=0;crop<2;crop++){ if(crop==1&&z[2]!=3) continue;
      String k="load "+f+" "+z[0]+" "+z[1]+" "+z[2]+" "+crop;
      try { NativeImageLoader l= z[0]<0? new NativeImageLoader(): z[2]<0? new NativeImageLoader(z[0],z[1]) : new NativeImageLoader(z[0],z[1],z[2],crop==1); put(k,nums(l.asMatrix(new File(root,f)))); }
      catch(Throwable e){ put(k,"error "+e); } }
    for(int n: new int[]{1,2,7,12}) { int[] o=new int[n]; for(int i=0;i<n;i++)o[i]=i; Random r=new Random(5); MathUtils.shuffleArray(o,r); String s=Arrays.toString(o); MathUtils.shuffleArray(o,r); put("shuffle "+n, s+Arrays.toString(o)); }
    FileSplit plain=new FileSplit(new File(root), new String[]{"png","jpg","bmp"}); put("plain",rels(plain));
    put("jpg", rels(new FileSplit(new File(root), new String[]{"jpg"})));
    put("flat", rels(new FileSplit(new File(root,"cat"), new String[]{"g"}, false)));
    List<URI> sorted=new ArrayList<>(Arrays.asList(plain.locations())); Collections.sort(sorted);
    CollectionInputSplit all=new CollectionInputSplit(sorted); put("sorted", rels(all));
    ParentPathLabelGenerator lg=new ParentPathLabelGenerator();
    String[] ext={"png","jpg"};
    PathFilter[] fs={ new RandomPathFilter(new Random(1)), new RandomPathFilter(new Random(2),"jpg","png"), new RandomPathFilter(new Random(3),ext,5), new BalancedPathFilter(new Random(4),ext,lg), new BalancedPathFilter(new Random(5),lg,1), new BalancedPathFilter(new Random(6),ext,lg,4), new BalancedPathFilter(new Random(7),lg,7,2,3), new BalancedPathFilter(new Random(8),ext,lg,2,2), new BalancedPathFilter(new Random(9),ext,lg,0,0,4,0), new BalancedPathFilter(new Random(10),null,lg,0,0,0,0,"cat","dog")};
    for(int i=0;i<fs.length;i++) { put("filter "+i, rels(all.sample(fs[i])[0])); }
    double[][] ws={{80,20},{1,1,1},{1.0},{0.5,0.3,0.2},{2},{1.0,3.0}};
    for(int i=0;i<ws.length;i++){ StringBuilder s=new StringBuilder(); for(InputSplit p: all.sample(null,ws[i])) s.append(s.length()>0?";":"").append(rels(p)); put("weights "+i,s.toString()); }
    { Random r=new Random(11); InputSplit[] p=all.sample(new BalancedPathFilter(r,ext,lg),0.7,0.3); put("two", rels(p[0])+";"+rels(p[1])); InputSplit[] q=all.sample(new RandomPathFilter(r,ext),0.7,0.3); put("two more", rels(q[0])+";"+rels(q[1])); }
    // iterators
    { FileSplit s=new FileSplit(new File(root,"cat"), new Random(3)); ImageRecordReader r=new ImageRecordReader(4,3,3,lg); }
    for(int n=0;n<2;n++){ CollectionInputSplit s=all; PathLabelGenerator g= n==0? lg : new PatternPathLabelGenerator("[aeiou]",0); ImageRecordReader r=new ImageRecordReader(4,3,3,g); r.initialize(s); put("labels "+n, r.getLabels().toString());
      RecordReaderDataSetIterator it=new RecordReaderDataSetIterator(r,4,1,r.numLabels()); int b=0; while(it.hasNext()){ DataSet d=it.next(); put("batch "+n+" "+b+" x",nums(d.getFeatures())); put("batch "+n+" "+b+" y",nums(d.getLabels())); b++; } put("names "+n, ""+it.getLabels()); put("columns "+n, ""+it.batch()); }
    { ImageRecordReader r=new ImageRecordReader(4,3,1); r.initialize(all); RecordReaderDataSetIterator it=new RecordReaderDataSetIterator(r,3); DataSet d=it.next(); put("alone x", nums(d.getFeatures())); put("alone y", ""+d.getLabels()); }
    // orders of a FileSplit with a Random, three epochs, by classes seen
    { FileSplit s=new FileSplit(new File(root), ext, new Random(12)); List<String> locs=new ArrayList<>(); for(URI u:s.locations()) locs.add(rel(u)); put("random locations", String.join(",",locs)); ImageRecordReader r=new ImageRecordReader(4,3,1,lg); r.initialize(s); RecordReaderDataSetIterator it=new RecordReaderDataSetIterator(r,100,1,3);
      for(int e=0;e<3;e++){ put("random epoch "+e, rels(s)); put("random sums "+e, nums(it.next().getFeatures().sum(1,2,3))); it.reset(); } }
    try(FileWriter w=new FileWriter(a[1])){ w.write(out.toString()); }
  }
}
